# The image of keyframe-server and of the command `keyframe` (docs/image.md).
#
# BASE holds Node.js 24 at the path NODE and is what the programs run on: it needs no shell and no npm. It is required, and has
# no default: a tag in a registry can be moved to another image, and a digest would keep the base from its security fixes. Give a
# name with its digest, as docs/image.md shows.
# BUILD_BASE holds Node.js 24, npm and a shell, and nothing of it gets into the image.
ARG BASE
ARG BUILD_BASE=${BASE}

# What runs in production, and the list of it.
FROM ${BUILD_BASE} AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json .npmrc ./
# The secret «ca»: certificates of a network that inspects TLS. Install scripts do nothing that is needed here.
RUN --mount=type=secret,id=ca \
  if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
  npm ci --omit=dev --omit=optional --ignore-scripts
# Without what is not installed, which npm would call missing.
RUN npm pkg delete devDependencies optionalDependencies scripts bin && \
  npm sbom --sbom-format cyclonedx --sbom-type application > sbom.json

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=ca \
  if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
  npm ci --include=dev --include=optional --ignore-scripts
COPY prisma.config.ts tsconfig.json LICENSE ./
COPY prisma ./prisma
COPY src ./src
# The client needs no engine, which Prisma would download here. The variable is for this one command: under it Prisma's
# migration commands do nothing and report success. The server brings its own migrations.
RUN PRISMA_SCHEMA_ENGINE_BINARY=/bin/true CHECKPOINT_DISABLE=1 PRISMA_HIDE_UPDATE_MESSAGE=1 \
  node node_modules/prisma/build/index.js generate
COPY tools ./tools
COPY docs ./docs
COPY CHANGELOG.md SECURITY.md ./
COPY charts/keyframe/README.md ./charts/keyframe/
COPY examples/README.md ./examples/
RUN node tools/build/main.ts
COPY --from=dependencies /dependencies /dependencies
# Where BASE has its Node.js: /nodejs/bin/node in distroless images.
ARG NODE=/usr/local/bin/node
ARG SOURCE_DATE_EPOCH=0
RUN node tools/devcluster/image/assemble.ts --dependencies /dependencies --output /image --node "$NODE" --time "$SOURCE_DATE_EPOCH"

FROM ${BASE}
# First what rarely changes, so that a new release is a small download.
COPY --from=build /image/modules /app
COPY --from=build /image/programs /app
WORKDIR /app
# The command looks for its settings at home, and a number has none of its own.
# MALLOC_MMAP_THRESHOLD_: glibc gives freed buffers of requests back to the system. Otherwise it raises this threshold itself, and
# what it keeps is as much as the requests use (docs/internals/http.md).
ENV NODE_ENV=production \
  MALLOC_MMAP_THRESHOLD_=131072 \
  HOME=/tmp \
  PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# A number, so that Kubernetes can see that it is not root. Nothing in the image belongs to it, and it needs to write nothing.
USER 65532:65532
EXPOSE 8700 8701 8702
# No HEALTHCHECK: Kubernetes ignores it and asks /healthz and /readyz itself.
ENTRYPOINT ["/app/bin/keyframe-server"]
CMD ["all"]
ARG BASE
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="Keyframe" \
  org.opencontainers.image.description="Secrets with a memory, synced into native Kubernetes Secrets the moment they change." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.base.name="${BASE}"
