# Hopcheck in a container:
#
#   docker build -t hopcheck . && docker run -p 8000:8000 -v hopcheck:/srv/hopcheck/instance hopcheck
#
# It is set up with make, as a checkout is, with PyTorch's CPU build. Java comes as a Python package. BASE can be any Debian
# with python3 and python3-venv; PIP_FLAGS are more options for pip, such as an index.
ARG BASE=python:3.11-slim
FROM ${BASE}

# PyTorch and llama.cpp need libgomp1 to compute with several threads; slim images lack it.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 make && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 1000 --create-home hopcheck && install -d -o hopcheck /srv/hopcheck
USER hopcheck
WORKDIR /srv/hopcheck

# Packages are a layer of their own, so a change of the code does not install them again.
ARG PIP_FLAGS=""
COPY --chown=hopcheck Makefile requirements.txt requirements.lock ./
RUN make install PIP_FLAGS="--no-cache-dir ${PIP_FLAGS}"

COPY --chown=hopcheck . .
# Each container signs with a key of its own, made at its first start, never with one that came with the image.
RUN make setup PIP_FLAGS="${PIP_FLAGS}" && rm -f instance/secret_key

# As in `make run`: freed memory is not kept by each thread (docs/operations.md, "Threads and processes").
ENV GLIBC_TUNABLES=glibc.malloc.tcache_count=0
ENV HOST=0.0.0.0 PORT=8000
EXPOSE 8000
# What was set up above is copied into a new volume; runs and the signing key are kept there.
VOLUME /srv/hopcheck/instance
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD [".venv/bin/python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# As `make run` does, but without make as process 1, which would not end when the container is stopped.
CMD ["sh", "-c", "make setup && exec .venv/bin/gunicorn"]
