#!/bin/sh
# Debian's Chromium for the browser tests, when it is missing and can be installed; otherwise those tests skip and say so.
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
    exit 0
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null && exit 0
    echo "Chromium could not be installed; the browser tests will skip." >&2
else
    echo "There is no Chromium; the browser tests will skip. On Debian:  sudo apt-get install chromium" >&2
fi
