#!/bin/sh
# Install Debian's Chromium, PostgreSQL and Redis for the tests, where they are missing. Without apt-get or root, print the
# command instead; the tests that need them are then skipped.
is_here() { command -v "$1" >/dev/null; }
has_browser() { is_here "$SHELL_ONLY" || is_here chromium || is_here chromium-browser || is_here google-chrome; }
can_install() { is_here apt-get && [ "$(id -u)" = 0 ]; }

# Chromium without windows takes a third of the CPU time. If it cannot be installed, another build is used.
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
    # Each in its own call, so that one failure does not stop the others. The tests start servers of their own.
    apt-get update -qq
    for package in $missing; do
        install "$package" || { [ "$package" = "$SHELL_ONLY" ] && { has_browser || install chromium; }; } \
            || echo "$package could not be installed; the tests that need it will skip." >&2
    done
else
    echo "The tests that need these will skip. On Debian:  sudo apt-get install $missing" >&2
fi
