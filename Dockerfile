# gasmeter in a container, with shared memory, UDP and all modelled networks:
#   docker build --tag gasmeter .
#   docker run --rm --shm-size 1g --volume "$PWD:/work" --user "$(id -u):$(id -g)" gasmeter run first_look --quick
FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ git \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip wheel --no-cache-dir --wheel-dir /wheels /src

FROM python:3.11-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels gasmeter
RUN useradd --create-home gasmeter && install --directory --owner gasmeter /work
# What a user of any number can write, for --user.
ENV MPLCONFIGDIR=/tmp/matplotlib
USER gasmeter
WORKDIR /work
ENTRYPOINT ["gasmeter"]
CMD ["--help"]
