#!/bin/sh
# Debian's Chromium, PostgreSQL and Redis for the tests that need them as they are, where they are missing and can be
# installed; otherwise those tests skip and say so.
missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
    || missing="$missing chromium fonts-dejavu-core"
command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || missing="$missing postgresql"
command -v redis-server >/dev/null || missing="$missing redis-server"
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing for the tests:$missing ..."
    export DEBIAN_FRONTEND=noninteractive
    # Each by itself, so that one that cannot be had keeps no other away. The tests start servers of their own.
    apt-get update -qq
    for package in $missing; do
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null \
            || echo "$package could not be installed; the tests that need it will skip." >&2
    done
else
    echo "The tests that need these will skip. On Debian:  sudo apt-get install$missing" >&2
fi
