"""Secrets without a shape of their own: passwords and tokens known by the name they are given to.

`password = …`, `"api_key": "…"`, `--token …`, `the password is …`, in prose, code, configuration and JSON. What stands
after such a name is more often a type, a placeholder, a variable or a word than a secret; the tests here tell them
apart. All is over UTF-8 bytes. Expressions begin right after the name and are bounded.
"""

import re


def spellings(*words: str) -> tuple[bytes, ...]:
    """Return each word in lower case, in capitals and with a capital first letter, as UTF-8."""
    return tuple(dict.fromkeys(s.encode() for w in words for s in (w, w.upper(), w[:1].upper() + w[1:])))


PASSWORD_NAMES = spellings(
    *("password", "passwd", "passphrase", "_pass", "pwd", "passwort", "kennwort", "contraseña", "contrasena", "senha"),
    *("mot de passe", "mot_de_passe", "wachtwoord", "hasło", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
"""Names whose value is a secret whatever it looks like, short of a placeholder."""
TOKEN_NAMES = (
    *spellings(
        *("secret", "token", "api_key", "apikey", "api-key", "api key", "access_key", "accesskey", "access-key"),
        *("private_key", "private-key", "auth_key", "authkey", "signing_key", "encryption_key", "account_key"),
        *("service_key", "master_key", "credential", "client_key", "app_key", "license_key"),
    ),
    *(b"apiKey", b"ApiKey", b"Api-Key", b"API-Key", b"API key", b"API Key", b"accessKey", b"AccessKey", b"authKey"),
    *(b"privateKey", b"signingKey", b"encryptionKey", b"accountKey", b"serviceKey", b"masterKey", b"clientKey"),
)
"""Names whose value is a secret when it looks like one: a word beside them is more often a word."""

_SUFFIX = rb"(?i:[_-]?(?:value|key|base|prod(?:uction)?|dev|staging|test|live|root|admin|old|new|\d{1,3})){0,2}"
# A closing quote, bracket or emphasis; `]` alone would also end a placeholder of ours.
_CLOSE = rb"(?:\*{2})?(?:\\*[\"'`]\]?)?"
_ASSIGNS = (
    rb"(?:[ \t]{0,8}(?::=|=>|={1,3}|!={1,2}|:|\xef\xbc\x9a)|[ \t]{1,64}\|(?=[ \t])"
    rb"|[ \t]{0,4}:[ \t]{0,4}[A-Za-z_][\w.\[\]|]{0,40}[ \t]{0,4}="
    rb"|[ \t]{1,4}(?:is|was|ist|es|est)(?=[ \t:]):?)"
    rb"(?:\*{2})?[ \t]{0,8}"
)
# `"` inside other quotes, and white space, end a value: in a line of JSON the quote would be the string's own.
_QUOTED = (
    rb"[bBrRuUfF@]{0,2}(?P<quote>\\*[\"'`])"
    rb"(?P<secret>(?![,:}\] \t])(?:(?!(?P=quote))(?:\\[\x21-\x7e]|[^%s\"\\])){1,512})(?P=quote)"
)
# Separators count as part of it only before more of it, and never before another `name=`.
_BARE = (
    rb"(?P<secret>(?![\[{(|=:$<%*.,;&#])"
    rb"(?:[^\s\"'`\\<>,;&)\]}]|\\(?![nrtu\"'`\\\s])|[,;&](?=[^\s,;&\"'`\\])(?![\w .-]{1,40}=)"
    rb"|[)\]}](?=[^\s,;:.)\]}\"'`\\])){3,512}+)"
)

QUOTED_ASSIGNMENT = re.compile(_SUFFIX + _CLOSE + _ASSIGNS + _QUOTED % rb"\s")
QUOTED_PHRASE = re.compile(_SUFFIX + _CLOSE + _ASSIGNS + _QUOTED % rb"\r\n")
BARE_ASSIGNMENT = re.compile(_SUFFIX + _CLOSE + rb"(?P<assigns>" + _ASSIGNS + rb")" + _BARE)
FLAG_VALUE = re.compile(_SUFFIX + rb"[ \t]{1,4}(?:\\*[\"'])?(?![-\"'])" + _BARE)

_PLACEHOLDER = re.compile(
    rb"[<$%{\[*(].*|(?:\*{2,}|[xX]{3,}|\.{2,}|-+|_+|\?+|(?:\xe2\x80\xa6)+).*"
    rb"|(?i:your|my|the|some|any|a|an|this|new|old|current|enter|insert|replace|user|db|database)"
    rb"[-_ ]?(?i:api|access|auth|secret|private|new|old|own|real|actual|db|strong|super|default|github|openai)?[-_ ]?"
    rb"(?i:key|token|password|passwd|pass|pwd|secret|value|here|passphrase|credential)?s?(?:[-_ ]?(?i:here))?",
    re.DOTALL,
)
_WORDS_THAT_ARE_NONE = frozenset(
    b"none null nil true false undefined str string text int integer number bool boolean bytes any object optional "
    b"required secretstr password passwd passphrase pwd secret token key value field input varchar char type list dict "
    b"missing invalid incorrect wrong empty expired reset changed unset hidden masked redacted yes no on off n/a not "
    b"the and for with from that this your authentication forgotten protected encrypted hashed plain plaintext auto "
    b"random generated prompt ask env self args kwargs const let var return await async function new is was are "
    b"confirm confirmation login username user email name id tbd unknown default example default_password "
    b"option options flag argument parameter requires manager protection policy".split()
)
_CODE = re.compile(
    rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[;,)]*"  # settings.password
    rb"|[A-Za-z_$][\w$.]*(?:\(|\[).*"  # getpass(), tokens[0]
    rb"|[A-Za-z_]\w*(?:\+|\|\||\?\?|\?).*"
    rb"|&?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # DB_PASSWORD, a constant
    rb"|@[A-Za-z_][\w./]*",
    re.DOTALL,
)
_PATH_OR_URL = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.-]*://.*|[A-Za-z]:[\\/].*"
    rb"|(?:~|\.{1,2})?/[\w.@ -]+(?:/[\w.@ -]*)*|[\w-]+(?:/[\w.-]+)*\.[a-z]{1,5}"
)
_LETTERS = re.compile(rb"[A-Za-z_-]+|(?:[A-Za-z_]|[\x80-\xff])+")
_NUMBERS_OR_DATE = re.compile(rb"[\d.,:%TZ+-]+[kKmMbBs]?")
_NAMES_A_SECRET = re.compile(rb"(?i)passw|pwd|secret|token|passphrase|credential|api_?key|private_?key")
_LINE_END = re.compile(rb"[.!]?[ \t]*(?:\r?\n|\\r|\\n|\\*[\"'`]|$)")
_CELL_END = re.compile(rb"[ \t]*(?:\||\r?\n|\\n|$)")
_IS_FLAG = re.compile(rb"(?:^|[\s\"'`=(])--?[A-Za-z][\w-]{0,60}\Z")
_AWS_SECRET_LENGTH = 40
_SHORTEST_QUOTED = 3
_MOST_SPACES = 3
_ODD = re.compile(rb"[\d@#$%^&*+=~]")
_SHORTEST_TOKEN = 8
_SHORTEST_LETTERS = 20
_LETTERS_PER_HUMP = 5
_HUMP = re.compile(rb"[a-z][A-Z]")
_DIGIT = re.compile(rb"\d")
_COLON = re.compile(rb"\*{0,2}(?::\*{0,2}[ \t]+|[ \t]*\xef\xbc\x9a\*{0,2}[ \t]*)")
_COMMAND_GOES_ON = re.compile(rb"[ \t]*(?:-|[;&|]|\r?\n|\\|[\"'`]|$)")


def _is_harmless(secret: bytes) -> bool:
    return (
        secret.lower().rstrip(b".:!") in _WORDS_THAT_ARE_NONE
        or _PLACEHOLDER.fullmatch(secret) is not None
        or (len(secret) != _AWS_SECRET_LENGTH and _PATH_OR_URL.fullmatch(secret) is not None)
    )


def is_quoted_phrase(match: re.Match[bytes]) -> bool:
    """Tell whether what a passphrase's name is given in quotes is one."""
    return len(match["secret"]) >= _SHORTEST_QUOTED and not _is_harmless(match["secret"])


def is_quoted_password(match: re.Match[bytes]) -> bool:
    """Tell whether what a password's name is given in quotes is one; several plain words are a label."""
    secret = match["secret"]
    spaces = secret.count(b" ") + secret.count(b"\t")
    if spaces and (spaces > _MOST_SPACES or not _ODD.search(secret)):
        return False
    return is_quoted_phrase(match)


def is_bare_password(match: re.Match[bytes]) -> bool:
    """Tell whether what a password's name is given without quotes is one, and neither code nor a word of prose."""
    secret = match["secret"]
    if _is_harmless(secret) or _CODE.fullmatch(secret) or _NAMES_A_SECRET.search(secret):
        return False
    if b"|" in match["assigns"] and _CELL_END.match(match.string, match.end()) is None:
        return False
    if _LETTERS.fullmatch(secret):
        return _ends_an_assignment(match)
    return True


def _ends_an_assignment(match: re.Match[bytes]) -> bool:
    """Tell whether a plain word is the whole of `name=word` or the last of a line `name: word`."""
    assigns = match["assigns"]
    if _LINE_END.match(match.string, match.end()) is None:
        return False
    return assigns == b"=" or _COLON.fullmatch(assigns) is not None


def is_token(match: re.Match[bytes]) -> bool:
    """Tell whether what a token's name is given looks drawn by lot: digits among letters, or no words in it."""
    secret = match["secret"]
    if len(secret) < _SHORTEST_TOKEN or _is_harmless(secret) or _NUMBERS_OR_DATE.fullmatch(secret):
        return False
    if "quote" not in match.re.groupindex and (_CODE.fullmatch(secret) or _NAMES_A_SECRET.search(secret)):
        return False
    return _DIGIT.search(secret) is not None or _is_wild_case(secret)


def _is_wild_case(secret: bytes) -> bool:
    """Tell whether capitals stand too close for words, as in `qXfRtBnLwKdJmZpHcVgT`."""
    return len(secret) >= _SHORTEST_LETTERS and len(_HUMP.findall(secret)) * _LETTERS_PER_HUMP > len(secret)


def is_flag_password(match: re.Match[bytes]) -> bool:
    """Tell whether a word after `--password` is its value; in prose, plain words follow it."""
    secret = match["secret"]
    if _is_harmless(secret) or not _follows_flag(match):
        return False
    return _LETTERS.fullmatch(secret) is None or _COMMAND_GOES_ON.match(match.string, match.end()) is not None


def is_flag_token(match: re.Match[bytes]) -> bool:
    """Tell whether a word after `--token` is its value."""
    return _follows_flag(match) and is_token(match)


def _follows_flag(match: re.Match[bytes]) -> bool:
    return _IS_FLAG.search(match.string[max(0, match.start() - 80) : match.start()]) is not None
