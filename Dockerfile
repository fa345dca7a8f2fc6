# The program as a small image: dist, its production dependencies, nothing else. What it does, is up to the command
# (`worker`, `sandbox`, …); docker-compose.yml and docs/deployment.md show all of them.
#
# The Debian variant and not Alpine: it has the same C library as the machines on which the tests run.
ARG NODE_IMAGE=node:24.21-bookworm-slim

# The production dependencies change seldom, so they are a stage, and a layer, of their own.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# None of them needs its install script. Source maps are a sixth of the whole and never read.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && find node_modules -name '*.map' -delete

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts, of which one is the build: the sources come in the next layer.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY jobs ./jobs
RUN npm run build

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="callquality-batch" \
      org.opencontainers.image.licenses="MIT"
# The command for `docker compose exec`, and the state folder: a new volume that is mounted there takes over its owner.
RUN ln -s /app/dist/bin/cqbatch.js /usr/local/bin/cqbatch \
    && install -d -o node -g node -m 700 /var/lib/cqbatch
ENV NODE_ENV=production \
    CQBATCH_STATE_DIR=/var/lib/cqbatch
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/bin/cqbatch.js"]
CMD ["--help"]
