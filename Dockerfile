# The image of Jury Judge: `serve` by default, `run`, `doctor` and every other command by name.
#   docker build -t jury-judge .
#   docker run --rm -p 127.0.0.1:8765:8765 -v jury:/data jury-judge
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
# Extras of jury-judge: statistics; `cluster` has what a Ray head needs to take jobs (deploy/rayjob.yaml).
ARG EXTRAS=stats
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir uv \
    && uv build --wheel --out-dir /dist \
    && uv export --locked --no-dev --no-emit-project $(printf -- '--extra %s ' $(echo "$EXTRAS" | tr ',' ' ')) --output-file /dist/requirements.txt --quiet \
    && uv venv --seed /opt/jury \
    && uv pip install --no-cache --compile-bytecode --python /opt/jury/bin/python --requirement /dist/requirements.txt \
    && uv pip install --no-cache --compile-bytecode --no-deps --python /opt/jury/bin/python /dist/*.whl

FROM python:${PYTHON}-slim
# KubeRay asks containers of a cluster for their health with wget.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends wget \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home jury \
    && install --directory --owner jury /data
COPY --from=build /opt/jury /opt/jury
ENV PATH=/opt/jury/bin:$PATH \
    JURY_STORE_URL=sqlite:////data/jury.db \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD \
    ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8765), 3).close()"]
ENTRYPOINT ["jury"]
# Off loopback a token is needed: JURY_SERVE_TOKEN, or the one that is printed.
CMD ["serve", "--host", "0.0.0.0"]
