"""Secrets of every kind, put together here so that no scanner takes this file for a leak."""

import base64
import random
import string
from collections.abc import Mapping
from types import MappingProxyType

_DICE = random.Random(20260401)
ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + string.digits


def drawn(alphabet: str, length: int) -> str:
    """Draw `length` letters, a digit and a small letter among them so that it looks like no word."""
    body = "".join(_DICE.choice(alphabet) for _ in range(length - 2))
    return f"{body[:5]}7{body[5:]}{'q' if 'q' in alphabet else '9'}"


def _b64(length: int) -> str:
    return base64.b64encode(bytes(_DICE.randrange(256) for _ in range(length))).decode()


def _b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _pem(label: str) -> str:
    body = "\n".join(_b64(48) for _ in range(12))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


_JWT = ".".join(
    (_b64url('{"alg":"HS256","typ":"JWT"}'), _b64url('{"sub":"1234567890","name":"Ann"}'), drawn(URL_SAFE, 43))
)

SHAPED: Mapping[str, str] = MappingProxyType(
    {
        "AWS access key": "AKIA" + drawn(CAPITALS, 16),
        "AWS session key": "ASIA" + drawn(CAPITALS, 16),
        "GitHub personal": "ghp" + "_" + drawn(ALNUM, 36),
        "GitHub OAuth": "gho" + "_" + drawn(ALNUM, 36),
        "GitHub app": "ghs" + "_" + drawn(ALNUM, 36),
        "GitHub fine-grained": "github" + "_pat_" + drawn(ALNUM, 22) + "_" + drawn(ALNUM, 59),
        "GitLab": "glpat" + "-" + drawn(URL_SAFE, 20),
        "Slack bot": "xoxb" + "-123456789012-1234567890123-" + drawn(ALNUM, 24),
        "Slack user": "xoxp" + "-1234567890-1234567890-1234567890-" + drawn(HEX, 32),
        "Slack webhook": "https://hooks.slack." + "com/services/T00000000/B00000000/" + drawn(ALNUM, 24),
        "Stripe live": "sk" + "_live_" + drawn(ALNUM, 24),
        "Stripe restricted": "rk" + "_live_" + drawn(ALNUM, 99),
        "Anthropic": "sk" + "-ant-api03-" + drawn(URL_SAFE, 93) + "AA",
        "OpenAI": "sk" + "-" + drawn(ALNUM, 20) + "T3Blbk" + "FJ" + drawn(ALNUM, 20),
        "OpenAI project": "sk" + "-proj-" + drawn(URL_SAFE, 74) + "T3Blbk" + "FJ" + drawn(URL_SAFE, 74),
        "Google API": "AIza" + drawn(URL_SAFE, 35),
        "Google OAuth": "ya29" + "." + drawn(URL_SAFE, 80),
        "Google client secret": "GOCSPX" + "-" + drawn(URL_SAFE, 28),
        "Hugging Face": "hf" + "_" + drawn(ALNUM, 34),
        "npm": "npm" + "_" + drawn(ALNUM, 36),
        "PyPI": "pypi" + "-AgEIcHlwaS5vcmc" + drawn(URL_SAFE, 120),
        "SendGrid": "SG" + "." + drawn(URL_SAFE, 22) + "." + drawn(URL_SAFE, 43),
        "Twilio": "SK" + drawn(HEX, 32),
        "Mailchimp": drawn(HEX, 32) + "-us12",
        "Telegram": "123456789" + ":AA" + drawn(URL_SAFE, 33),
        "Discord": "MTk4NjIyNDgzNDcxOTI1MjQ4" + "." + drawn(ALNUM, 6) + "." + drawn(URL_SAFE, 27),
        "DigitalOcean": "dop" + "_v1_" + drawn(HEX, 64),
        "Shopify": "shpat" + "_" + drawn(HEX, 32),
        "Square": "sq0csp" + "-" + drawn(URL_SAFE, 43),
        "Databricks": "dapi" + drawn(HEX, 32),
        "Linear": "lin" + "_api_" + drawn(ALNUM, 40),
        "Notion": "ntn" + "_" + drawn(ALNUM, 46),
        "Docker Hub": "dckr" + "_pat_" + drawn(URL_SAFE, 27),
        "HashiCorp Vault": "hvs" + "." + drawn(URL_SAFE, 90),
        "Grafana": "glsa" + "_" + drawn(ALNUM, 32) + "_" + drawn(HEX, 8),
        "Supabase": "sbp" + "_" + drawn(HEX, 40),
        "Groq": "gsk" + "_" + drawn(ALNUM, 52),
        "age": "AGE-SECRET" + "-KEY-1" + drawn(CAPITALS, 58),
        "JWT": _JWT,
        "RSA key": _pem("RSA PRIVATE KEY"),
        "PKCS 8 key": _pem("PRIVATE KEY"),
        "OpenSSH key": _pem("OPENSSH PRIVATE KEY"),
        "PGP key": _pem("PGP PRIVATE KEY BLOCK"),
    }
)
"""Secrets that are known by their shape, whatever stands around them."""

_WORD = drawn(ALNUM, 24)
ASSIGNED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "environment": (f"DB_PASSWORD={_WORD}", _WORD),
        "environment, a word": ("POSTGRES_PASSWORD=swordfish\n", "swordfish"),
        "shell export": (f"export API_KEY='{_WORD}'", _WORD),
        "YAML": ("database:\n  password: swordfish\n  port: 5432", "swordfish"),
        "JSON": (f'{{"api_key": "{_WORD}", "n": 1}}', _WORD),
        "JSON with a secret password": ('{"password":"tr0ub4dor&3","n":1}', "tr0ub4dor&3"),
        "escaped JSON": (f'{{\\"client_secret\\": \\"{_WORD}\\"}}', _WORD),
        "Python": (f'password = "{_WORD}"  # oh dear', _WORD),
        "Python with a type": (f'token: str = "{_WORD}"', _WORD),
        "Python keyword argument": ("connect(host='db', password='hunter2', port=1)", "hunter2"),
        "JavaScript": (f"const apiKey = `{_WORD}`;", _WORD),
        "Go": (f'secret := "{_WORD}"', _WORD),
        "Ruby": ("config = { :password => 'hunter2' }", "hunter2"),
        "subscript": (f'os.environ["GITHUB_TOKEN"] = "{_WORD}"', _WORD),
        "query string": (f"https://example.org/cb?access_token={_WORD}&state=4", _WORD),
        "connection string": ("Server=db;User Id=sa;Password=Pa55w.rd!;Database=x", "Pa55w.rd!"),
        "connection URL": ("postgresql+psycopg://app:s3cr3t-p4ss@db.internal:5432/app", "s3cr3t-p4ss"),
        "connection URL with @": ("mysql://root:p@ss@w0rd@localhost/app", "p@ss@w0rd"),
        "connection URL without user": ("redis://:s3cr3t@cache:6379/0", "s3cr3t"),
        "token in a URL": (f"git clone https://{_WORD}@git.example.org/a/b.git", _WORD),
        "bearer": (f"curl -H 'Authorization: Bearer {_WORD}' https://x.org", _WORD),
        "bearer alone": (f"send it as Bearer {_WORD} please", _WORD),
        "basic": ("Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l"),
        "header": (f"X-Api-Key: {_WORD}", _WORD),
        "cookie": (f"Cookie: session={_WORD}; theme=dark", _WORD),
        "curl user": ("curl -s -u admin:hunter2 https://x.org", "hunter2"),
        "flag": ("mysqldump --user root --password hunter2 app", "hunter2"),
        "flag with =": (f"deploy --auth-token={_WORD} now", _WORD),
        "npmrc": (f"//registry.example.org/:_authToken={_WORD}", _WORD),
        "netrc": ("machine x.org login ann password hunter2", "hunter2"),
        "AWS secret": ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE", "wJalrXUtnFEMI/K7MDENG"),
        "Azure": ("AccountName=a;AccountKey=" + _b64(64) + ";EndpointSuffix=x", "=="),
        "prose": ("By the way, the staging password is hunter2!", "hunter2"),
        "prose, my": ("my password: swordfish\nplease keep it", "swordfish"),
        "Markdown": ("- **Password:** hunter2\n- **User:** ann", "hunter2"),
        "Markdown table": ("| key | value |\n|---|---|\n| DB_PASSWORD | hunter2 |", "hunter2"),
        "passphrase": ('passphrase: "correct horse battery staple"', "correct horse battery staple"),
        "German": ("Passwort: hunter2", "hunter2"),
        "Spanish": ("la contraseña es hunter2", "hunter2"),
        "Chinese": ("密码：hunter2", "hunter2"),  # noqa: RUF001
        "Japanese": ("パスワード: hunter2", "hunter2"),
        "Russian": ("пароль: hunter2", "hunter2"),
        "not ASCII": ("password = пароль123", "пароль123"),  # noqa: RUF001
        "digits": ("password: 123456", "123456"),
        "said in prose": ("password=hunter2secret said Anna", "hunter2secret"),
        "marks at its end": ("password=hunter2secret!!", "hunter2secret!!"),
        "marks alone": ("password=swordfish!! said Anna", "swordfish!!"),
        "passwd": ("passwd = s3cr3tpw", "s3cr3tpw"),
        "PGPASSWORD": ("PGPASSWORD=swordfish1 psql", "swordfish1"),
        "secret with dashes": ("secret: correct-horse-9battery", "correct-horse-9battery"),
        "JSON, a word": ('{"password": "swordfish", "n": 1}', "swordfish"),
        "JSON, a word as secret": ('{"client_secret": "swordfish", "n": 1}', "swordfish"),
        "named for what it is": ("password=secret123", "secret123"),
        "in words for a token": ("auth_token=my-token-8f3a9c2b", "my-token-8f3a9c2b"),
        "pw after a line in JSON": ('{"text": "user: ann\\npw: hunter2\\nbye"}', "hunter2"),
        "leet": ("PASSWORD=S3CRET said Anna", "S3CRET"),
        "rootpw": ("rootpw=hunter2", "hunter2"),
        "camel case pw": ("dbPw: 'swordfish'", "swordfish"),
        "plink": ("plink -pw hunter2 ann@host", "hunter2"),
        "mysql": ("mysql -u root -phunter2secret", "hunter2secret"),
        "mysql, a word": ("docker exec -it db mysql -uroot -pswordfish app", "swordfish"),
        "mysql, digits": ("mysql -uroot -p123456 app", "123456"),
        "mysql, quoted": ("mysqldump -p'correct horse 9' app > out.sql", "correct horse 9"),
        "mysql in JSON": ('{"command": "mysql -u root -p\\"hunter2secret\\" app"}', "hunter2secret"),
        "mariadb-dump": ("/usr/bin/mariadb-dump -h db -phunter2 app | gzip", "hunter2"),
        "psql": ("psql -U ann -phunter2secret app", "hunter2secret"),
        "mongosh": ("mongosh -u ann -p hunter2secret", "hunter2secret"),
        "docker login": ("docker login -u ann -p hunter2secret", "hunter2secret"),
    }
)
"""Texts with a secret that is known by what it is given to, and that secret."""

NAMES = (
    *("password", "PASSWORD", "Password", "db_password", "userPassword", "passwd", "pwd", "MYSQL_PWD", "pw", "db_pw"),
    *("PW", "passphrase", "secret", "SECRET", "client_secret", "clientSecret"),
)
"""Names that say that their value is a secret."""
MIXED = ("hunter2secret", "hunter2", "s3cr3tpw", "correct-horse-9battery", "Tr0ub4dor&3", "pass4word!", "token2big")
"""Values that look like no word, whatever they are given to."""
GIVEN = (
    *("{}={}", "{} = {}", "{}: {}", "{} => {}", "{} := {}", "the {} is {}", "{}={} said Anna", "{}: {}, said Anna"),
    *(
        "({}={})",
        "--{} {}",
        "run --{}={} now",
        "-{} {} now",
        "`{}={}`",
        '"{}": "{}"',
        "{}='{}'",
        '{{\\"{}\\":\\"{}\\"}}',
    ),
)
"""Ways to give a value to a name."""
QUOTED = ("{} = '{}'", '"{}": "{}"', "f({}='{}', n=1)", "'{}' => '{}'")
"""Ways to give a value that may be a plain word too."""

HARMLESS: tuple[str, ...] = (
    "commit 3f2b8c1d9e4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c fixes it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity sha512-" + _b64(64),
    "id 123e4567-e89b-12d3-a456-426614174000 of session 99999999-0000-4000-8000-000000000002",
    "![](data:image/png;base64," + _b64(3_000) + ")",
    "see /usr/local/lib/python3.11/site-packages/graph_memory/domain/redaction.py:42",
    r"C:\Users\ann\Documents\secret\plan-2026.docx",
    "https://github.com/owner/name/blob/3f2b8c1d9e4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c/src/token.py#L10",
    "the max_tokens=4096 and token_count: 8192, password_hash: none",
    "password: str, token: str | None = None, secret: SecretStr",
    "password = getpass.getpass()\ntoken = os.environ['TOKEN']\nsecret = settings.secret_key",
    "login(user=user, password=password, token=token)",
    'password: "Enter your password", "token": "Access token"',
    "export TOKEN=$GITHUB_TOKEN PASSWORD=${DB_PASSWORD} KEY=<your-api-key> API_KEY=your_api_key_here",
    "Password: required. Token: the unit a model reads. Secret: none",
    "risk-averse task-force disk-usage desk-based ask-me-anything-about-the-whole-project-2",
    "`--password` asks for one; the --token option is for CI",
    "PWD=/home/ann/projects/app OLDPWD=/home/ann",
    "ssh://git@github.com:22/a/b.git git@github.com:a/b.git http://localhost:8080/@scope/pkg",
    "git push -u origin main:main; docker run -u 1000:1000 image",
    f"-----BEGIN CERTIFICATE-----\n{_b64(48)}\n-----END CERTIFICATE-----",
    "begin with `-----BEGIN PRIVATE KEY-----` and stop",
    "Bearer authentication means: whoever bears the token may enter",
    "password=[redacted:password] and [redacted:github]",
    'JSON: {"token": null, "password": true, "secret": {"a": 1}, "api_key": ""}',
    "secretKeyRef:\n  name: app\n  key: token",
    "SKILL SKETCH ACCOUNT MODERNITY ODD NTFS OTHER",
    "The password is stored. A secret is shared! The password is compromised!! Is the password: changed?",
    "The password is sha256-hashed, the secret is base64-encoded, the password is utf-8, the secret: oauth2",
    "password: 8-64 characters, the password is argon2id; pw: 100, pw=0.35, pw = widths[0]",
    "login(password=password1, secret=oauth2_secret, token=api_v2_token, pw=pw, passwd=new_passwd)",
    '{"password": "Passwort", "secret": "client_secret", "pw": "string", "secret_key": "your-secret-key"}',
    "password=secret/data/app secret=secrets.token_hex(32) password=get_password(user1)",
    "def sign(private_key: Ed25519PrivateKey | None, secret: Pkcs7Secret, token: X509Token) -> None",
    "mkdir -parents && ssh -p2222 host; docker run -p8080:80 -p3306:3306 mysql; cp -pr a1 b1",
    "mysql -u root -p; mysql -p$PASS; mysql -p<password>; mysql -ppassword; mysql -pYOUR_PASSWORD; psql -p5432 app",
    "docker login -u ann -p $TOKEN; mongosh -p; docker run -p 8080:80 image9",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC+pw== ann@host1 and ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCaPw== ann@host1",
)
"""Texts without a secret, near to those with one."""
