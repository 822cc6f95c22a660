# One image for every process; the command decides. dev/image/image.ts says what it holds, and tests run that as it stands.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run image -- /app

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
# Code belongs to root and is only read; the sandbox alone keeps data.
COPY --from=build /app ./
# Operators' commands run here, with the environment of a service.
RUN ln -s /app/dist/fas.mjs /usr/local/bin/fas && mkdir /data && chown node:node /data
# By number, so that Kubernetes sees that it is not root.
USER 1000
ENV DATA_DIR=/data
EXPOSE 3000
# As process 1 node must handle signals itself, which our entry points do.
CMD ["node", "dist/api.mjs"]
