# A small image of the program, whose build holds all that it needs. The command (`worker`, `sandbox`, …) decides what it does;
# see docker-compose.yml and docs/deployment.md.
#
# Debian instead of Alpine, because the tests run with its C library.
ARG NODE_IMAGE=node:24.21-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts, because one of them is the build, and the sources come in the next layer.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY jobs ./jobs
RUN npm run build && rm -rf dist/src dist/jobs dist/.tsbuildinfo

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="callquality-batch" \
      org.opencontainers.image.licenses="MIT"
# The command for `docker compose exec`, and the state folder: a new volume mounted there gets its owner.
RUN ln -s /app/dist/bin/cqbatch.js /usr/local/bin/cqbatch \
    && install -d -o node -g node -m 700 /var/lib/cqbatch
ENV NODE_ENV=production \
    CQBATCH_STATE_DIR=/var/lib/cqbatch
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/bin/cqbatch.js"]
CMD ["--help"]
