#!/bin/sh
# Says whether a webhook's signature holds: its raw body on standard input, its X-Webhook-Signature as the argument.
#
# PARLEY_KEY=sk_live_... docs/examples/verify_webhook.sh sha256=... < body.json
secret=$(printf '%s' "$PARLEY_KEY" | openssl dgst -sha256 | sed 's/^.*= //')
expected="sha256=$(openssl dgst -sha256 -hmac "$secret" | sed 's/^.*= //')"
if [ "$1" = "$expected" ]; then echo genuine; else echo forged; exit 1; fi
