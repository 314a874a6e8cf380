"""Made-up secrets of every form, put together as they are needed so that no scanner takes them for real."""

from amfs_sqlite.rules.redaction import PATTERNS

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"


def of(alphabet: str, count: int, step: int = 7) -> str:
    """So many characters, the same in every run."""
    return "".join(alphabet[(3 + i * step + i // 5) % len(alphabet)] for i in range(count))


_KEY = "\n".join(of(BASE64, 64) for _ in range(4))
_JWT = f"eyJ{of(LETTERS, 30)}.eyJ{of(LETTERS, 40)}.{of(LETTERS, 43)}"

SAMPLES: dict[str, list[tuple[str, str]]] = {
    "jwt": [(_JWT, _JWT)],
    "aws-access-key": [(key, key) for key in (f"AKIA{of(UPPER, 16)}", f"ASIA{of(UPPER, 16)}")],
    "aws-secret-key": [
        (f"{name}{of(BASE64, 40)}", of(BASE64, 40))
        for name in ("aws_secret_access_key = ", 'AWS_SECRET_KEY="', "aws_secret_access_key: ")
    ],
    "github-token": [
        (token, token)
        for token in (*(f"gh{kind}_{of(LETTERS, 36)}" for kind in "pousr"), f"github_pat_{of(LETTERS, 82)}")
    ],
    "gitlab-token": [(f"glpat-{of(LETTERS, 20)}",) * 2],
    "slack-token": [(f"xox{kind}-{of('0123456789', 12)}-{of(LETTERS, 24)}",) * 2 for kind in "abeoprs"],
    "slack-webhook": [
        (
            f"https://hooks.slack.com/services/T0{of(UPPER, 8)}/B0{of(UPPER, 8)}/{of(LETTERS, 24)}",
            of(LETTERS, 24),
        )
    ],
    "google-api-key": [(f"AIza{of(LETTERS, 35)}",) * 2],
    "google-oauth-secret": [(f"GOCSPX-{of(LETTERS, 28)}",) * 2, (f"ya29.{of(LETTERS, 60)}",) * 2],
    "stripe-key": [(f"{kind}_{of(LETTERS, 24)}",) * 2 for kind in ("sk_live", "sk_test", "rk_live", "whsec")],
    "anthropic-key": [(f"sk-ant-api03-{of(LETTERS, 95)}",) * 2],
    "openai-key": [
        (f"sk-{kind}{of(HEX if kind == 'or-v1-' else LETTERS, 48)}",) * 2
        for kind in ("", "proj-", "svcacct-", "or-v1-")
    ],
    "huggingface-token": [(f"hf_{of(LETTERS, 34)}",) * 2],
    "npm-token": [(f"npm_{of(LETTERS, 36)}",) * 2],
    "pypi-token": [(f"pypi-AgEIcHlwaS5vcmc{of(LETTERS, 120)}",) * 2],
    "sendgrid-key": [(f"SG.{of(LETTERS, 22)}.{of(LETTERS, 43)}",) * 2],
    "digitalocean-token": [(f"dop_v1_{of(HEX, 64)}",) * 2],
    "telegram-token": [(f"123456789:AA{of(LETTERS, 33)}",) * 2],
    "azure-account-key": [(f"AccountName=x;AccountKey={of(BASE64, 86)}==;", of(BASE64, 86))],
    "authorization-header": [(f"Authorization: Basic {of(LETTERS, 24)}=", of(LETTERS, 24))],
    "bearer-token": [(f"Authorization: Bearer {of(LETTERS, 40)}", of(LETTERS, 40))],
    "url-password": [
        (f"{scheme}://app:p%40ss-{of(LETTERS, 8)}@db.example.com:5432/main", of(LETTERS, 8))
        for scheme in ("postgres", "mongodb+srv", "redis", "https", "amqp")
    ],
    "password-setting": [
        (f"Server=db;User Id=app;Password=Tr0ub4-{of(LETTERS, 8)};", of(LETTERS, 8)),
        (f"host=db password=Tr0ub4-{of(LETTERS, 8)} dbname=x", of(LETTERS, 8)),
    ],
    "quoted-password": [(f'{{"password": "Tr0ub4 {of(LETTERS, 8)}"}}', of(LETTERS, 8))],
    "secret-setting": [
        (text, text.split()[-1].rpartition("=")[2].strip("'\""))
        for text in (
            "password: hunter4",
            "passwd: 836194720518",
            "db_password:   Tr0ub4dor-and-more",
            "token=abcdefgh12345678",
            "export SECRET_KEY=dj4ng0-ins3cure",
            "GITHUB_TOKEN=abc123def456",
            "api_key: 'correcthorse'",
            'secret = "correcthorse"',
            "accessToken: AbCdEfGhIj",
            "client_secret=xKmPqRst",
            "api-key := a1b2c3d4",
            '"token": "abc123def"',
        )
    ],
    "private-key": [
        (f"-----BEGIN {kind}PRIVATE KEY-----\n{_KEY}\n-----END {kind}PRIVATE KEY-----", _KEY)
        for kind in ("", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED ")
    ]
    + [(f"-----BEGIN PRIVATE KEY-----\n{_KEY}", _KEY)],
}
"""By pattern: texts that hold one secret of its form, and the part of each that nobody may see."""

EVERY = [(name, text, secret) for name, texts in SAMPLES.items() for text, secret in texts]
NAMES = [pattern.name for pattern in PATTERNS]
