# syntax=docker/dockerfile:1
# The service as a container image: `docker build -t quakegraph .`, then
# `docker run --read-only --tmpfs /tmp -p 8000:8000 -v quakegraph:/data -e GRAPH_JWT_SECRET=… quakegraph`.

FROM python:3.11-slim-bookworm AS build
# npm brings the web pages' third-party files, which the build checks against pinned hashes.
RUN apt-get update && apt-get install -y --no-install-recommends npm && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/quakegraph
WORKDIR /src
COPY requirements.lock ./
RUN /opt/quakegraph/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md ./
COPY graph ./graph
RUN /opt/quakegraph/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home quakegraph && install -d -o quakegraph /data
COPY --from=build /opt/quakegraph /opt/quakegraph
ENV PATH=/opt/quakegraph/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    GRAPH_HOST=0.0.0.0 \
    GRAPH_PORT=8000 \
    GRAPH_STORE=sqlite:////data/quakegraph.db
USER quakegraph
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"GRAPH_PORT\"]}/readyz', timeout=4)"]
CMD ["quakegraph", "serve"]
