"""The providers' own keys and tokens, told by how they begin or by their form.

A table of strings: nothing is compiled at import. Prefixes and lengths follow the providers' own
documentation and the rules published by gitleaks, secretlint and CredSweeper.

Every pattern must run in linear time: it starts with a literal, or with a bounded class before one,
and any repetition without a bound is possessive. A trailing class swallows whatever is glued to the
token, so that the character after a redacted span never belongs to a token.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One shape: the kind it is reported as, and the pattern whose group 1 (or 0) is the secret.

    `hints` are lower-case literals; a text that contains none of them is not searched.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str


# No letter or digit stands before a head; the `n` of an escaped newline is none. The check follows
# the head, because a pattern that begins with a literal is searched ten times as fast.
_GLUED = r"[A-Za-z0-9_-]*+"
_ALONE = r"(?![A-Za-z0-9_-])"


def _heads(
    *rows: tuple[str, str, str], before: str = "A-Za-z0-9", end: str = _GLUED
) -> tuple[Rule, ...]:
    """One rule for each literal head of each row: kind, heads, what follows them."""
    return tuple(
        Rule(kind, (head.lower(),), anchored(head.replace(".", r"\."), before) + f"(?:{tail}){end}")
        for kind, heads, tail in rows
        for head in heads.split()
    )


def anchored(head: str, before: str) -> str:
    """A pattern for the head where no character of the class `before` stands before it."""
    return rf"{head}(?:(?<![{before}]{head})|(?<=\\[nrt]{head}))"


PREFIXED = _heads(
    ("recalld-token", "rk_", r"[\w-]{43}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36}"),
    ("github-token", "github_pat_", r"\w{40}"),
    ("gitlab-token", "glpat- gldt- glrt- glsoat- glptt- glcbt- glffct- glft-", r"[\w.=-]{20,}+"),
    ("gitlab-token", "glimt-", r"[\w-]{25}"),
    ("gitlab-token", "glagent- gloas-", r"[\w-]{50}"),
    ("gitlab-token", "GR1348941", r"[\w-]{20}"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-", r"[A-Za-z0-9-]{10}"),
    ("slack-token", "xapp- xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10}"),
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[A-Za-z0-9]{10}"),
    ("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24}[A-Za-z0-9+/=]*+"),
    ("anthropic-key", "sk-ant-", r"[a-z0-9]{2,10}-[\w-]{80}"),
    ("openai-key", "sk-", r"[\w-]{20}"),
    ("google-key", "GOCSPX-", r"[\w-]{28}"),
    ("google-key", "ya29.", r"[\w-]{20}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-AgE", r"[\w-]{85}"),
    ("sendgrid-key", "SG.", r"[\w-]{16,32}+\.[\w-]{32}"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{34}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{48}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{70}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40}"),
    ("nvidia-key", "nvapi-", r"[\w-]{60}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("1password-token", "ops_eyJ", r"[\w+/=-]{200}[\w+/=-]*+"),
    ("1password-token", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    ("akamai-token", "akab-", r"[a-z0-9]{16}-[a-z0-9]{16}"),
    ("artifactory-token", "cmVmdGtuOjA", r"[A-Za-z0-9+/=]{40}[A-Za-z0-9+/=]*+"),
    ("atlassian-token", "ATATT3 ATCTT3", r"[\w=\\-]{60}[\w=\\-]*+"),
    ("atlassian-token", "ATBB", r"[A-Za-z0-9]{32}"),
    ("aws-key", "amzn.mws.", r"[0-9a-z]{8}-(?:[0-9a-z]{4}-){3}[0-9a-z]{12}"),
    ("aws-key", "da2-", r"[a-z0-9]{26}"),
    ("aws-key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{80}[A-Za-z0-9+/=]*+"),
    ("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/@_-]{40}[A-Za-z0-9+/@_-]*+"),
    ("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    ("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    ("cloudflare-token", "cfat_ cfut_ cfk_", r"[A-Za-z0-9]{40}"),
    ("cloudflare-token", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{146}"),
    ("contentful-token", "CFPAT-", r"[\w-]{43}"),
    ("databricks-token", "dapi", r"[0-9A-Fa-f]{32}"),
    ("defined-key", "dnkey-", r"[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{27}"),
    ("docker-token", "SWMTKN-1-", r"[a-z0-9]{50}-[a-z0-9]{25}"),
    ("doppler-token", "dp.", r"(?:pt|ct|sa|scim|audit|st(?:\.[\w-]{2,35})?)\.[A-Za-z0-9]{40}"),
    ("duffel-token", "duffel_test_ duffel_live_", r"[\w=-]{43}"),
    ("dynatrace-token", "dt0", r"[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("figma-token", "figd_ figo_ figu_ figdr_ figor_ figur_", r"[\w-]{40}"),
    ("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"[0-9a-hA-H]{12,32}+(?:-X)?"),
    ("fly-token", "fo1_", r"[\w-]{43}"),
    ("fly-token", "fm1_ fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/=]{100}[A-Za-z0-9+/=]*+"),
    ("frameio-token", "fio-u-", r"[\w=-]{64}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/]{32}[A-Za-z0-9+/=]*+"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("heroku-key", "HRKU-", r"[\w-]{36}"),
    ("infracost-key", "ico-", r"[A-Za-z0-9]{32}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{40}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}"),
    ("mapbox-token", "sk.eyJ", r"[\w-]{40,400}+\.[\w-]{20}"),
    ("netlify-token", "nfp_", r"[A-Za-z0-9]{36}"),
    ("newrelic-key", "NRAK- NRAL-", r"[A-Z0-9]{27}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}"),
    ("octopus-key", "API-", r"[A-Z0-9]{25,27}+"),
    ("openshift-token", "sha256~", r"[\w-]{43}"),
    ("plaid-token", "access-sandbox- access-production-", r"[0-9a-f]{8}-[0-9a-f-]{27}"),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w.=-]{32}[\w.=-]*+"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}"),
    ("readme-key", "rdme_", r"[a-z0-9]{70}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("sentry-token", "sntryu_", r"[0-9a-f]{64}"),
    ("sentry-token", "sntrys_eyJ", r"[\w+/=]{60}[\w+/=]*+"),
    ("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[A-Za-z0-9]{32}"),
    ("sonar-token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    ("sourcegraph-token", "sgp_", r"(?:(?:[0-9A-Fa-f]{16}|local)_)?[0-9A-Fa-f]{40}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22}"),
    ("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    ("supabase-key", "sb_secret_", r"[\w-]{30}"),
    ("tailscale-key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{8,32}+(?:-[A-Za-z0-9]{10})?"),
    ("typeform-token", "tfp_", r"[\w.=-]{59}"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{24}"),
    ("vercel-token", "vcp_ vck_ vci_ vca_ vcr_", r"[A-Za-z0-9]{56}"),
)

BARE = _heads(
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{17,20}+"),
    ("artifactory-token", "AKC", r"[A-Za-z0-9]{64}"),
    ("easypost-key", "EZAK EZAT", r"[A-Za-z0-9]{54}"),
    ("facebook-token", "EAAM EAAC", r"[A-Za-z0-9]{100}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{32}"),
    before="A-Za-z0-9_+/-",
)
"""Heads of letters only, which base64 can hold by chance."""

EXACT = _heads(
    ("aws-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    ("google-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}"),
    before="A-Za-z0-9_-",
    end=_ALONE,
)


def _headless(*rows: tuple[str, str, str, str]) -> tuple[Rule, ...]:
    """Kind, hint, first character, the rest: told by their form only."""
    return tuple(
        Rule(kind, (hint,), rf"{first}(?<![A-Za-z0-9_-]{first})(?:{rest}){_ALONE}")
        for kind, hint, first, rest in rows
    )


FORMED = _headless(
    ("azure-secret", "q~", r"[A-Za-z0-9_~.]", r"[A-Za-z0-9_~.]{2}\dQ~[A-Za-z0-9_~.-]{31,34}+"),
    ("mailchimp-key", "-us", r"[0-9a-f]", r"[0-9a-f]{31}-us\d{1,2}"),
    ("telegram-token", ":aa", r"[0-9]", r"\d{7,9}:AA[\w-]{33}"),
    ("facebook-token", "|", r"[0-9]", r"\d{12,16}+\|[\w-]{27}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]", r"[A-Za-z0-9]{13}\.atlasv1\.[\w=-]{60,70}+"),
    ("discord-token", ".", r"[MNO]", r"[\w-]{23,27}+\.[\w-]{6}\.[\w-]{27,40}+"),
)

PROVIDERS = (*PREFIXED, *BARE, *EXACT, *FORMED)
"""All of them; where two claim the same text, the earlier names it."""
