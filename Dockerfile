# Parley in a container: built from this folder, run as nobody in particular, with its data at /data.
#   docker build -t parley . && docker run -p 8080:8080 -v parley:/data parley

FROM python:3.11-slim-trixie AS wheel
WORKDIR /src
COPY . .
RUN scripts/build-wheel /wheel

FROM python:3.11-slim-trixie
# libgomp1: the local language model's engine needs it. postgresql-client: pg_dump and pg_restore, for backups.
# Without versions: the newest of Debian's stable release, with its security updates, is wanted.
# hadolint ignore=DL3008
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libgomp1 postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY scripts/install-wheel constraints.txt /tmp/
COPY --from=wheel /wheel /tmp/wheel
RUN /tmp/install-wheel /opt/parley /tmp/wheel && rm -rf /tmp/wheel /root/.cache
RUN useradd --create-home --uid 10001 parley && install -d -o parley -g parley /data /data/cache /backups
# By number, so that an orchestrator can see that it is not root.
USER 10001
ENV PATH=/opt/parley/bin:$PATH \
    PARLEY_HOST=0.0.0.0 \
    PARLEY_DATA_DIR=/data \
    XDG_CACHE_HOME=/data/cache
VOLUME /data
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=5)"]
STOPSIGNAL SIGINT
CMD ["sh", "-c", "parley migrate --quiet && exec parley serve"]
