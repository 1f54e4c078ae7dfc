import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import type { Authenticator } from '../access/authenticator.js';
import { type Logger, nestLogger } from '../logging.js';
import { RequestMetrics } from '../metrics.js';
import { BODY_MAX_BYTES } from './json-body.js';
import { installPipeline, requestId } from './pipeline.js';
import { notFound } from './problem.js';
import { ProblemFilter, sendProblem } from './problem-filter.js';
import { RouteTable } from './route-table.js';

const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 20_000;
const BODY_TIMEOUT_MS = 30_000;
/** 200 characters of four bytes, percent-encoded. */
const PARAM_MAX_CHARACTERS = 2_400;

export interface HttpAppOptions {
  readonly module: DynamicModule | Type;
  readonly authenticator: Authenticator;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly routes: RouteTable;
}

/** A Nest application on Fastify with the pipeline that every service has. It does not listen yet. */
export async function createHttpApp(options: HttpAppOptions): Promise<NestFastifyApplication> {
  const { authenticator, logger, metrics, routes } = options;
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_MAX_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: BODY_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    genReqId: requestId,
    routerOptions: { maxParamLength: PARAM_MAX_CHARACTERS },
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) =>
      sendProblem(reply, notFound('such address')),
    skipMiddie: true,
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  installPipeline(fastify, authenticator);
  closeConnectionsAtTheEnd(fastify);
  installMetrics(fastify, new RequestMetrics(metrics));
  fastify.addHook('onRoute', ({ config }) => routes.add(config?.route));
  const app = await NestFactory.create<NestFastifyApplication>(options.module, adapter, {
    bodyParser: false,
    logger: nestLogger(logger),
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter(logger, (path) => routes.methodsOf(path)));
  return app;
}

/**
 * Once the server stops, each response is the last of its connection, and with the last response all connections go:
 * one that is idle, or was never used, would hold the end up.
 */
function closeConnectionsAtTheEnd(fastify: FastifyInstance): void {
  let closing = false;
  let inFlight = 0;
  const closeWhenIdle = () => {
    if (closing && inFlight === 0) fastify.server.closeAllConnections();
  };
  fastify.addHook('onRequest', (_request, _reply, done) => {
    inFlight += 1;
    done();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (_request, _reply, done) => {
    inFlight -= 1;
    closeWhenIdle();
    done();
  });
  fastify.addHook('preClose', (done) => {
    closing = true;
    closeWhenIdle();
    done();
  });
}

function installMetrics(fastify: FastifyInstance, metrics: RequestMetrics): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.config.route?.path ?? 'none';
    metrics.observe({
      method: request.method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
    done();
  });
}
