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
# With what may follow it, as two letters alone stand in every embedded image.
PW_NAMES = tuple(name + mark for name in spellings("pw") for mark in (b"=", b":", b" ", b'"', b"'", b"`", b"\\", b"*"))
"""A password's shortest name, two letters and one more; its value is a secret when it looks like one."""
SECRET_NAMES = spellings("secret")
"""Names whose value is a secret when it looks like one, or is a word in quotes."""
TOKEN_NAMES = (
    *spellings(
        *("token", "api_key", "apikey", "api-key", "api key", "access_key", "accesskey", "access-key"),
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
# A word, a hump, or after what has passwords; base64 may end in `pw==`.
_IS_PW = (
    rb"(?:(?<![A-Za-z0-9+/][Pp][Ww])|(?<=\\[nrt][Pp][Ww])|(?<=[a-z]Pw)|(?<=(?i:dbpw))"
    rb"|(?<=(?i:(?:root|bind|user|ldap)pw)))(?!==)"
)
QUOTED_PW = re.compile(_IS_PW + QUOTED_PHRASE.pattern)
BARE_PW = re.compile(_IS_PW + BARE_ASSIGNMENT.pattern)
FLAG_PW = re.compile(_IS_PW + FLAG_VALUE.pattern)
CLIENT_PASSWORD = re.compile(
    rb" -p(?!rotocol|ort|ipe)(?P<space>[ \t]{0,2})(?P<quote>\\*[\"'])?"
    rb"(?P<secret>(?![-$<\[{(*.])(?(quote)[^\"'\\\r\n]|[^\s\"'`\\;|&<>,)]){3,256}+)"
)

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
    b"option options flag argument parameter requires manager protection policy changeme change-me change_me".split()
) | {name.lower() for name in PASSWORD_NAMES}
# Words with digits in them, which make no password of the words around them.
_TERMS = re.compile(
    rb"(?i)(?<![a-z0-9])(?:"
    rb"(?:sha-?(?:1|2|3|224|256|384|512)|md5|pkcs-?\d{1,2}|x\.?509|aes-?(?:128|192|256)|rsa-?\d{4}|ed25519|ed448)"
    rb"(?-i:(?![a-z0-9]))"  # types are called by these: Ed25519PrivateKey
    rb"|(?:base-?(?:16|32|58|64)|bech32|utf-?(?:8|16|32)|oauth-?[12]?|argon2(?:id|i|d)?|pbkdf2|e2ee?|[2m]fa|s3|ec2|k8s"
    rb"|p12|h[12]|v\d{1,2}|ipv[46]|http-?[123]|\d{1,4}-(?:bits?|bytes?|chars?|characters?|digits?))(?![a-z0-9]))"
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
_NAME = re.compile(rb"(?:[A-Za-z_$./:-]|[\x80-\xff])+\d?")
_RANGE = re.compile(rb"\d{1,3}(?:-|\.\.|\xe2\x80\x93)\d{1,3}")
_NUMBERS_OR_DATE = re.compile(rb"[\d.,:%TZ+-]+[kKmMbBs]?")
_NAMES_A_SECRET = re.compile(rb"(?i)passw|pwd|secret|token|passphrase|credential|api_?key|private_?key")
_LINE_END = re.compile(rb"[.!]?[ \t]*(?:\r?\n|\\r|\\n|\\*[\"'`]|$)")
_CELL_END = re.compile(rb"[ \t]*(?:\||\r?\n|\\n|$)")
_IS_FLAG = re.compile(rb"(?:^|[\s\"'`=(])--?[A-Za-z][\w-]{0,60}\Z")
_CLIENT = re.compile(
    rb"(?:^|[\s/\"'`=(])(?:(?P<attached>mysql[a-z]{0,8}|mariadb(?:-[a-z]{1,8})?|mycli|7z[ar]?)"
    rb"|psql|pgcli|pg_[a-z]{4,10}|(?P<spaced>mongo[a-z]{0,7}|cqlsh"
    rb"|(?:docker|podman|nerdctl|buildah|oras|helm[ \t]registry|az|oc)[ \t]login))[ \t]"
)
_COMMAND_START = re.compile(rb"[\n;|&]|\\n")
_LONGEST_COMMAND = 400
_AWS_SECRET_LENGTH = 40
_SHORTEST_QUOTED = 3
_SHORTEST_MIXED = 6
_LONGEST_WORDS = 80
_MOST_SPACES = 3
_ODD = re.compile(rb"[\d@#$%^&*+=~]")
_SHORTEST_TOKEN = 8
_SHORTEST_LETTERS = 20
_LETTERS_PER_HUMP = 5
_HUMP = re.compile(rb"[a-z][A-Z]")
_DIGIT = re.compile(rb"\d")
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_COLON = re.compile(rb"\*{0,2}(?::\*{0,2}[ \t]+|[ \t]*\xef\xbc\x9a\*{0,2}[ \t]*)")
_COMMAND_GOES_ON = re.compile(rb"[ \t]*(?:-|[;&|]|\r?\n|\\|[\"'`]|$)")


def _is_harmless(secret: bytes) -> bool:
    return (
        secret.lower().rstrip(b".:!") in _WORDS_THAT_ARE_NONE
        or _PLACEHOLDER.fullmatch(secret) is not None
        or (len(secret) != _AWS_SECRET_LENGTH and _PATH_OR_URL.fullmatch(secret) is not None)
    )


def _without_terms(secret: bytes) -> bytes:
    # Most values have no digit, and a long one is no term with words: looking is what takes time.
    if len(secret) > _LONGEST_WORDS or _DIGIT.search(secret) is None:
        return secret
    return _TERMS.sub(b"_", secret)


def _names_a_variable(secret: bytes) -> bool:
    """Tell whether a value is a name for a secret, as `db_password` and `password2` are and `hunter2secret` isn't."""
    return _NAMES_A_SECRET.search(secret) is not None and _NAME.fullmatch(_without_terms(secret)) is not None


def _is_mixed(secret: bytes) -> bool:
    """Tell whether letters and digits are among each other, and not only in the names of techniques."""
    rest = _without_terms(secret)
    return len(secret) >= _SHORTEST_MIXED and bool(_DIGIT.search(rest) and _LETTER.search(rest))


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
    if _is_harmless(secret) or _CODE.fullmatch(secret) or _names_a_variable(secret) or _RANGE.fullmatch(secret):
        return False
    if b"|" in match["assigns"] and _CELL_END.match(match.string, match.end()) is None:
        return False
    # Marks at the end are the sentence's, unless there is none: `password=swordfish!`.
    words = _without_terms(secret if b"=" in match["assigns"] else secret.rstrip(b".!?:"))
    if _LETTERS.fullmatch(words):
        return _ends_an_assignment(match)
    return True


def is_bare_pw(match: re.Match[bytes]) -> bool:
    """Tell whether what `pw` is given without quotes is a password; it is a power and a page's width too."""
    return _is_mixed(match["secret"]) and is_bare_password(match)


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
    if "quote" not in match.re.groupindex and (_CODE.fullmatch(secret) or _names_a_variable(secret)):
        return False
    return _DIGIT.search(_without_terms(secret)) is not None or _is_wild_case(secret)


def is_secret(match: re.Match[bytes]) -> bool:
    """Tell whether what is called a secret is one: letters and digits, however few, or what a token may be."""
    secret = match["secret"]
    if _is_harmless(secret) or _CODE.fullmatch(secret) or _names_a_variable(secret):
        return False
    return _is_mixed(secret) or is_token(match)


def is_quoted_secret(match: re.Match[bytes]) -> bool:
    """Tell whether what is called a secret and stands in quotes is one; a single word is."""
    secret = match["secret"]
    if len(secret) >= _SHORTEST_MIXED and _LETTERS.fullmatch(secret):
        return not (_is_harmless(secret) or _names_a_variable(secret))
    return (_is_mixed(secret) and not _is_harmless(secret)) or is_token(match)


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


def is_flag_secret(match: re.Match[bytes]) -> bool:
    """Tell whether a word after `--secret` is its value."""
    return _follows_flag(match) and is_secret(match)


def is_flag_pw(match: re.Match[bytes]) -> bool:
    """Tell whether a word after `-pw` is its value."""
    return _is_mixed(match["secret"]) and is_flag_password(match)


def is_client_password(match: re.Match[bytes]) -> bool:
    """Tell whether the client named before `-p` takes a password there: joined for MySQL, apart for MongoDB.

    For PostgreSQL `-p` is a port, so that only what can't be one is a password someone took it for.
    """
    secret = match["secret"]
    if _is_harmless(secret) or _names_a_variable(secret):
        return False
    before = match.string[max(0, match.start() - _LONGEST_COMMAND) : match.start() + 1]
    client = _CLIENT.search(_COMMAND_START.split(before)[-1])
    if client is None or (client["spaced"] is None and match["space"]):
        return False
    return client["attached"] is not None or _is_mixed(secret)


def _follows_flag(match: re.Match[bytes]) -> bool:
    return _IS_FLAG.search(match.string[max(0, match.start() - 80) : match.start()]) is not None
