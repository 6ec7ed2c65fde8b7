#!/bin/sh
# Debian's Chromium, PostgreSQL and Redis for the tests that need them as they are, where they are missing and can be
# installed; otherwise those tests skip and say so.
is_here() { command -v "$1" >/dev/null; }
has_browser() { is_here "$SHELL_ONLY" || is_here chromium || is_here chromium-browser || is_here google-chrome; }
can_install() { is_here apt-get && [ "$(id -u)" = 0 ]; }

# Chromium without windows takes a third of the CPU time; any other build will do where this one cannot be had.
SHELL_ONLY=chromium-headless-shell

missing=""
is_here "$SHELL_ONLY" || { has_browser && ! can_install; } || missing="$SHELL_ONLY fonts-dejavu-core"
is_here pg_ctl || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || missing="$missing postgresql"
is_here redis-server || missing="$missing redis-server"
[ -n "$missing" ] || exit 0
if can_install; then
    echo "Installing for the tests: $missing ..."
    export DEBIAN_FRONTEND=noninteractive
    install() { apt-get install -y -qq --no-install-recommends "$1" >/dev/null; }
    # Each by itself, so that one that cannot be had keeps no other away. The tests start servers of their own.
    apt-get update -qq
    for package in $missing; do
        install "$package" || { [ "$package" = "$SHELL_ONLY" ] && { has_browser || install chromium; }; } \
            || echo "$package could not be installed; the tests that need it will skip." >&2
    done
else
    echo "The tests that need these will skip. On Debian:  sudo apt-get install $missing" >&2
fi
