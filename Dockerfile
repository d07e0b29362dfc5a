FROM node:24-bookworm-slim AS base
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY bin ./bin

FROM base AS build
RUN npm ci
COPY tsconfig.json ormconfig.ts ./
COPY src ./src
COPY tools/build.cjs ./tools/
RUN npm run build

FROM base AS dependencies
# The image has its own Node.
RUN npm ci --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM base
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 SERVICE_DATA_DIR=/data
COPY --from=dependencies /app/node_modules ./node_modules
COPY models ./models
COPY starters ./starters
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT || 8080}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-old-space-size=1024", "dist/src/main.js"]
