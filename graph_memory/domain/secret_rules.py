"""What secrets look like: for each kind, literal anchors and the expression that decides at an anchor.

Expressions are over UTF-8 bytes, as secrets are ASCII but for some passwords. They begin at the anchor and are bounded,
so that a text made of anchors alone is still read in linear time. A named group `secret` is what is replaced; without
one it is the whole match. Shapes come from the issuers' public documentation.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from graph_memory.domain import secret_assignments as assigned


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One way to recognise one kind of secret.

    `begins` are the distances, in bytes, from the anchor's first byte to where the expression may begin; `None` is
    right after the anchor. `accepts` has the last word, for expressions that ordinary text can match too.
    """

    kind: str
    anchors: tuple[bytes, ...]
    expression: re.Pattern[bytes]
    begins: tuple[int, ...] | None = (0,)
    accepts: Callable[[re.Match[bytes]], bool] | None = None


# An anchor that ordinary words contain counts only at the start of a word; `\n` may stand there as JSON writes it.
_WORD_START = rb"(?:(?<![A-Za-z0-9_+/-])|(?<=\\[nrt]))"
_WORD_END = rb"(?![A-Za-z0-9_-])"
_URL_SAFE = rb"[A-Za-z0-9_-]"
_DOTTED = rb"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))"  # a full stop that ends a sentence is no part of it
_ALNUM = rb"[A-Za-z0-9]"
_HEX = rb"[a-fA-F0-9]"


_DIGIT = re.compile(rb"\d")
_DIGITS_AND_COLONS = re.compile(rb"[\d:]+")


def _has_digit(match: re.Match[bytes]) -> bool:
    return _DIGIT.search(match.group()) is not None


def _is_spelled_out(match: re.Match[bytes]) -> bool:
    return b"***" not in match["secret"] and b"..." not in match["secret"]


def _is_user_of_curl(match: re.Match[bytes]) -> bool:
    """`-u a:b` is a password for curl, a group for docker and a branch for git."""
    line = match.string[max(0, match.start() - 400) : match.start()].rpartition(b"\n")[2]
    return b"curl" in line and _DIGITS_AND_COLONS.fullmatch(match["secret"]) is None


def _prefixed(kind: str, prefix: bytes, tail: bytes, *, at_word: bool = False, mixed: bool = False) -> SecretRule:
    start = _WORD_START if at_word else b""
    expression = re.compile(start + re.escape(prefix) + tail)
    return SecretRule(kind, (prefix,), expression, accepts=_has_digit if mixed else None)


_DISTINCT_PREFIXES: tuple[tuple[str, bytes, bytes], ...] = (
    ("anthropic", b"sk-ant-", _URL_SAFE + rb"{16,256}+"),
    ("openai", b"sk-proj-", _URL_SAFE + rb"{20,256}+"),
    ("openai", b"sk-svcacct-", _URL_SAFE + rb"{20,256}+"),
    ("openai", b"sk-admin-", _URL_SAFE + rb"{20,256}+"),
    ("openrouter", b"sk-or-", _URL_SAFE + rb"{20,256}+"),
    ("langfuse", b"sk-lf-", _URL_SAFE + rb"{20,64}+"),
    ("groq", b"gsk_", _ALNUM + rb"{32,128}+"),
    ("xai", b"xai-", _ALNUM + rb"{32,128}+"),
    ("perplexity", b"pplx-", _ALNUM + rb"{32,128}+"),
    ("replicate", b"r8_", _ALNUM + rb"{32,64}+"),
    ("huggingface", b"hf_", _ALNUM + rb"{28,64}+"),
    ("huggingface", b"api_org_", _ALNUM + rb"{28,64}+"),
    ("github", b"ghp_", _ALNUM + rb"{30,255}+"),
    ("github", b"gho_", _ALNUM + rb"{30,255}+"),
    ("github", b"ghu_", _ALNUM + rb"{30,255}+"),
    ("github", b"ghs_", _ALNUM + rb"{30,255}+"),
    ("github", b"ghr_", _ALNUM + rb"{30,255}+"),
    ("github", b"github_pat_", rb"[A-Za-z0-9_]{22,255}+"),
    ("gitlab", b"glpat-", _DOTTED + rb"{18,255}+"),
    ("gitlab", b"gldt-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glft-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glrt-", _DOTTED + rb"{18,255}+"),
    ("gitlab", b"glcbt-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glptt-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glsoat-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glimt-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"glagent-", _URL_SAFE + rb"{18,1024}+"),
    ("gitlab", b"gloas-", _URL_SAFE + rb"{18,255}+"),
    ("gitlab", b"GR1348941", _URL_SAFE + rb"{18,255}+"),
    ("bitbucket", b"ATBB", _ALNUM + rb"{24,64}+"),
    ("atlassian", b"ATATT3", rb"[A-Za-z0-9_=-]{32,512}+"),
    ("atlassian", b"ATCTT3", rb"[A-Za-z0-9_=-]{32,512}+"),
    ("slack", b"xoxb-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxp-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxa-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxo-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxr-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxs-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxc-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack", b"xoxd-", rb"[A-Za-z0-9%/+=-]{10,512}+"),
    ("slack", b"xoxe.", _DOTTED + rb"{10,512}+"),
    ("slack", b"xoxe-", rb"[A-Za-z0-9-]{10,512}+"),
    ("slack", b"xapp-", rb"[A-Za-z0-9-]{10,255}+"),
    ("slack-webhook", b"hooks.slack.com/", rb"(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_/+-]{16,255}+)"),
    ("discord-webhook", b"/api/webhooks/", rb"\d{15,22}/(?P<secret>[A-Za-z0-9_-]{40,128}+)"),
    ("stripe", b"sk_live_", _ALNUM + rb"{16,255}+"),
    ("stripe", b"sk_test_", _ALNUM + rb"{16,255}+"),
    ("stripe", b"rk_live_", _ALNUM + rb"{16,255}+"),
    ("stripe", b"rk_test_", _ALNUM + rb"{16,255}+"),
    ("stripe", b"whsec_", rb"[A-Za-z0-9+/=]{24,128}+"),
    ("square", b"sq0atp-", _URL_SAFE + rb"{20,64}+"),
    ("square", b"sq0csp-", _URL_SAFE + rb"{40,64}+"),
    ("square", b"EAAAE", _URL_SAFE + rb"{50,128}+"),
    ("facebook", b"EAACEdEose0cBA", _ALNUM + rb"{20,512}+"),
    ("shopify", b"shpat_", _HEX + rb"{32,64}+"),
    ("shopify", b"shpca_", _HEX + rb"{32,64}+"),
    ("shopify", b"shppa_", _HEX + rb"{32,64}+"),
    ("shopify", b"shpss_", _HEX + rb"{32,64}+"),
    ("google-api", b"AIza", _URL_SAFE + rb"{35,64}+"),
    ("google-oauth", b"GOCSPX-", _URL_SAFE + rb"{20,64}+"),
    ("google-oauth", b"ya29.", _DOTTED + rb"{20,2048}+"),
    ("google-oauth", b"1//0", _URL_SAFE + rb"{40,512}+"),
    ("digitalocean", b"dop_v1_", _HEX + rb"{40,128}+"),
    ("digitalocean", b"doo_v1_", _HEX + rb"{40,128}+"),
    ("digitalocean", b"dor_v1_", _HEX + rb"{40,128}+"),
    ("npm", b"npm_", _ALNUM + rb"{36,64}+"),
    ("pypi", b"pypi-AgE", _URL_SAFE + rb"{50,512}+"),
    ("rubygems", b"rubygems_", _HEX + rb"{40,64}+"),
    ("docker", b"dckr_pat_", _URL_SAFE + rb"{20,64}+"),
    ("docker", b"dckr_oat_", _URL_SAFE + rb"{20,64}+"),
    ("databricks", b"dapi", _HEX + rb"{32}(?:-\d+)?" + _WORD_END),
    ("linear", b"lin_api_", _ALNUM + rb"{32,64}+"),
    ("notion", b"ntn_", _ALNUM + rb"{36,64}+"),
    ("figma", b"figd_", _URL_SAFE + rb"{32,64}+"),
    ("postman", b"PMAK-", rb"[A-Za-z0-9-]{40,80}+"),
    ("planetscale", b"pscale_", rb"(?:tkn|pw|oauth)_[A-Za-z0-9=_.-]{30,128}+"),
    ("supabase", b"sbp_", _HEX + rb"{40,64}+"),
    ("supabase", b"sb_secret_", _URL_SAFE + rb"{20,64}+"),
    ("netlify", b"nfp_", _ALNUM + rb"{32,64}+"),
    ("vault", b"hvs.", _URL_SAFE + rb"{24,512}+"),
    ("vault", b"hvb.", _URL_SAFE + rb"{24,512}+"),
    ("doppler", b"dp.pt.", _ALNUM + rb"{40,64}+"),
    ("doppler", b"dp.st.", _DOTTED + rb"{40,96}+"),
    ("grafana", b"glsa_", rb"[A-Za-z0-9_]{36,64}+"),
    ("grafana", b"glc_", rb"[A-Za-z0-9+/=]{32,512}+"),
    ("sentry", b"sntrys_", rb"[A-Za-z0-9+/=_.-]{32,512}+"),
    ("sentry", b"sntryu_", _HEX + rb"{40,128}+"),
    ("newrelic", b"NRAK-", _ALNUM + rb"{27,64}+"),
    ("sendgrid", b"SG.", rb"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}+"),
    ("brevo", b"xkeysib-", rb"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("tailscale", b"tskey-", rb"[A-Za-z0-9-]{20,128}+"),
    ("age", b"AGE-SECRET-KEY-1", rb"[A-Z0-9]{40,80}+"),
    ("azure-storage", b"AccountKey=", rb"(?P<secret>[A-Za-z0-9+/=]{40,128}+)"),
    ("azure-sas", b"SharedAccessSignature=", rb"(?P<secret>[A-Za-z0-9%+/=&._-]{20,512}+)"),
    ("azure-sas", b"&sig=", rb"(?P<secret>[A-Za-z0-9%+/=_-]{30,128}+)"),
    ("azure-sas", b"?sig=", rb"(?P<secret>[A-Za-z0-9%+/=_-]{30,128}+)"),
    ("aws-signature", b"X-Amz-Signature=", rb"(?P<secret>[a-f0-9]{64})"),
    ("npm", b":_auth=", rb"[ \t\"']{0,2}(?P<secret>[A-Za-z0-9+/=_-]{8,512}+)"),
    ("npm", b":_authToken=", rb"[ \t\"']{0,2}(?P<secret>(?!\$)[^\s\"'\\]{8,512}+)"),
)
"""Prefixes that no ordinary text contains; they count in mid-word too."""

_WORD_PREFIXES: tuple[tuple[str, bytes, bytes], ...] = (
    ("openai", b"sk-", _URL_SAFE + rb"{20,256}+"),
    ("aws-access-key", b"AKIA", rb"[A-Z0-9]{16}" + _WORD_END),
    ("aws-access-key", b"ASIA", rb"[A-Z0-9]{16}" + _WORD_END),
    ("aws-access-key", b"ABIA", rb"[A-Z0-9]{16}" + _WORD_END),
    ("aws-access-key", b"ACCA", rb"[A-Z0-9]{16}" + _WORD_END),
    ("twilio", b"SK", rb"[a-f0-9]{32}" + _WORD_END),
    ("mailgun", b"key-", rb"[a-f0-9]{32}" + _WORD_END),
    ("notion", b"secret_", _ALNUM + rb"{40,64}+"),
)
"""Prefixes that need a word of their own, with a digit in it."""

# The first part of a bot token is a number in base64, so its first two letters are one of nine pairs.
_DISCORD = SecretRule(
    "discord",
    (b"MT", b"Mj", b"Mz", b"ND", b"NT", b"Nj", b"Nz", b"OD", b"OT"),
    re.compile(_WORD_START + rb"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,64}+"),
)
_TELEGRAM = SecretRule(
    "telegram",
    (b":AA",),
    re.compile(rb"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}" + _WORD_END),
    begins=(-10, -9, -8),
)
_MAILCHIMP = SecretRule(
    "mailchimp", (b"-us",), re.compile(rb"(?:(?<![a-z0-9])|(?<=\\[nrt]))[a-f0-9]{32}-us\d{1,2}\b"), begins=(-32,)
)
_JWT = SecretRule(
    "jwt",
    (b"eyJ",),
    re.compile(
        _WORD_START + rb"eyJ[A-Za-z0-9_=-]{8,4096}+"
        rb"(?:\.eyJ[A-Za-z0-9_=-]{8,16384}+(?:\.[A-Za-z0-9_=-]{0,4096}+)?|(?:\.[A-Za-z0-9_=-]{0,16384}+){2,4})"
    ),
)
# Up to the end line where there is one before the next begin line; else the base64 lines that follow.
_PEM = SecretRule(
    "private-key",
    (b"-----BEGIN", b"---- BEGIN"),
    re.compile(
        rb"-----BEGIN(?: [A-Z0-9]{1,16}){0,4} PRIVATE KEY(?: BLOCK)?-----"
        rb"(?=(?:(?!-----)[\x00-\xff]){0,400}?[A-Za-z0-9+/]{16})"
        rb"(?:(?:(?!-----)[\x00-\xff]){0,32768}-----END(?: [A-Z0-9]{1,16}){0,4} PRIVATE KEY(?: BLOCK)?-----"
        rb"|(?:(?:[\s>|\"'+,]|\\[nrt]){0,16}[A-Za-z0-9+/=]{16,}+){0,1024})"
        rb"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?:(?!----)[\x00-\xff]){0,32768}"
    ),
)
_PUTTY = SecretRule(
    "private-key",
    (b"Private-Lines:",),
    re.compile(
        rb"Private-Lines:[ \t]*\d{1,3}(?:\s|\\[nr])+(?P<secret>(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr]){0,4}){1,64})"
    ),
)
_BEARER = SecretRule(
    "bearer",
    (b"Bearer", b"bearer", b"BEARER"),
    re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr][ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{12,4096}+)"),
    accepts=_has_digit,
)
_AUTHORIZATION = SecretRule(
    "authorization",
    (b"Authorization", b"authorization", b"AUTHORIZATION"),
    re.compile(
        rb"(?i:authorization)(?:\\*[\"'`])?[ \t]{0,2}[:=,][ \t]{0,4}(?:\\*[\"'`])?"
        rb"(?i:basic|token|apikey|digest|bot|negotiate|ssws|key|bearer)[ \t=]{1,4}"
        rb"(?P<secret>(?![<$\[{*])[^\s\"'`\\,;<>]{6,4096}+)"
    ),
    accepts=_is_spelled_out,
)
_COOKIE = SecretRule(
    "cookie",
    (b"Cookie:", b"cookie:"),
    re.compile(
        rb"[Cc]ookie:[ \t]{0,4}(?P<secret>[A-Za-z0-9_.-]{1,64}="
        rb"[^\s\"'`\\<>]{8,4096}+(?:;[ \t][^\s\"'`\\<>]{1,4096}+){0,64})"
    ),
)
# Greedy up to the last `@` of the authority, since passwords may hold one; `/`, white space and quotes end it.
_URL_PASSWORD = SecretRule(
    "url-password",
    (b"://",),
    re.compile(
        rb"://[^\s/:@\"'`<>\\\[\](){}|]{0,256}:"
        rb"(?P<secret>(?!\$|\{|<|%[A-Za-z_]|\*{3}|\[redacted:)[^\s/\"'`<>\\]{1,256})@(?=[A-Za-z0-9\[_$%{<.-])"
    ),
)
_URL_TOKEN = SecretRule(
    "url-password",
    (b"http://", b"https://"),
    re.compile(rb"https?://(?P<secret>[A-Za-z0-9_-]{20,256}+)@(?=[A-Za-z0-9\[])"),
    accepts=_has_digit,
)
_CURL_USER = SecretRule(
    "password",
    (b" -u", b" --user", b" --proxy-user"),
    re.compile(
        rb" (?:-u|--user|--proxy-user)[ =]?(?:\\*[\"'])?[A-Za-z0-9_.@+-]{1,128}:"
        rb"(?P<secret>(?![$<{*])[^\s\"'`\\]{3,256}+)(?=[\s\"'`\\]|$)"
    ),
    accepts=_is_user_of_curl,
)
_NETRC = SecretRule(
    "password",
    (b"login ",),
    re.compile(rb"login[ \t]+[^\s\\]{1,128}(?:\s|\\n){1,8}password[ \t]+(?P<secret>(?!\[redacted:)[^\s\"'\\]{3,256}+)"),
)
_SSHPASS = SecretRule(
    "password",
    (b"sshpass",),
    re.compile(rb"sshpass[ \t]+-p[ \t]?(?:\\*[\"'])?(?P<secret>(?![$<\[])[^\s\"'\\]{3,256}+)"),
)


def _assignments() -> tuple[SecretRule, ...]:
    quoted, phrase, bare, flag = (
        assigned.QUOTED_ASSIGNMENT,
        assigned.QUOTED_PHRASE,
        assigned.BARE_ASSIGNMENT,
        assigned.FLAG_VALUE,
    )
    phrases = assigned.spellings("passphrase")
    return (
        SecretRule("password", assigned.PASSWORD_NAMES, phrase, None, assigned.is_quoted_password),
        SecretRule("password", phrases, phrase, None, assigned.is_quoted_phrase),
        SecretRule("password", assigned.PASSWORD_NAMES, bare, None, assigned.is_bare_password),
        SecretRule("password", assigned.PASSWORD_NAMES, flag, None, assigned.is_flag_password),
        SecretRule("password", assigned.PW_NAMES, assigned.QUOTED_PW, (2,), assigned.is_quoted_password),
        SecretRule("password", assigned.PW_NAMES, assigned.BARE_PW, (2,), assigned.is_bare_pw),
        SecretRule("password", assigned.PW_NAMES, assigned.FLAG_PW, (2,), assigned.is_flag_pw),
        SecretRule("password", (b" -p",), assigned.CLIENT_PASSWORD, accepts=assigned.is_client_password),
        SecretRule("secret", assigned.SECRET_NAMES, quoted, None, assigned.is_quoted_secret),
        SecretRule("secret", assigned.SECRET_NAMES, bare, None, assigned.is_secret),
        SecretRule("secret", assigned.SECRET_NAMES, flag, None, assigned.is_flag_secret),
        SecretRule("secret", assigned.TOKEN_NAMES, quoted, None, assigned.is_token),
        SecretRule("secret", assigned.TOKEN_NAMES, bare, None, assigned.is_token),
        SecretRule("secret", assigned.TOKEN_NAMES, flag, None, assigned.is_flag_token),
    )


RULES: tuple[SecretRule, ...] = (
    *(_prefixed(kind, prefix, tail) for kind, prefix, tail in _DISTINCT_PREFIXES),
    *(_prefixed(kind, prefix, tail, at_word=True, mixed=True) for kind, prefix, tail in _WORD_PREFIXES),
    *(_DISCORD, _TELEGRAM, _MAILCHIMP, _JWT, _PEM, _PUTTY, _BEARER, _AUTHORIZATION, _COOKIE),
    *(_URL_PASSWORD, _URL_TOKEN, _CURL_USER, _NETRC, _SSHPASS),
    *_assignments(),
)
"""Every rule; where matches overlap, the text they cover together is replaced under the kind of the first."""
