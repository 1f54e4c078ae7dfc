import { readFile } from 'node:fs/promises';
import { Controller, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { Readiness } from '../health.js';
import { docsPage } from './docs-page.js';
import { notFound } from './problem.js';
import { Handles, route } from './route.js';
import { RouteTable } from './route-table.js';

export const METRICS = Symbol('metrics');
export const VERSION = Symbol('version');

const CheckSchema = z.strictObject({ ok: z.boolean(), detail: z.string() });
const ReadySchema = z.strictObject({ ready: z.boolean(), checks: z.record(z.string(), CheckSchema) });

const alive = route({
  method: 'GET',
  path: '/healthz',
  access: 'public',
  summary: 'Whether the process is alive',
  answers: { 200: z.strictObject({ alive: z.literal(true) }) },
});
const ready = route({
  method: 'GET',
  path: '/readyz',
  access: 'public',
  summary: 'Whether requests can be served; names what is not as it should be',
  answers: { 200: ReadySchema, 503: ReadySchema },
});
const metrics = route({
  method: 'GET',
  path: '/metrics',
  access: 'public',
  summary: 'Metrics in the Prometheus text format',
  answers: { 200: { media: ['text/plain'] } },
});
const openApi = route({
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  summary: 'This contract as OpenAPI 3.1',
  answers: { 200: z.record(z.string(), z.unknown()) },
});
const docs = route({
  method: 'GET',
  path: '/docs',
  access: 'public',
  summary: 'This contract as a page',
  answers: { 200: { media: ['text/html'] } },
});
const docsAsset = route({
  method: 'GET',
  path: '/docs/:file',
  access: 'public',
  summary: 'The parts of the page',
  params: z.strictObject({ file: z.enum(['swagger-ui.css', 'swagger-ui-bundle.js']) }),
  answers: { 200: { media: ['text/css', 'text/javascript'] } },
});

@Controller()
export class OperationsController {
  constructor(
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(RouteTable) private readonly routes: RouteTable,
    @Inject(METRICS) private readonly registry: Registry,
    @Inject(VERSION) private readonly version: string,
  ) {}

  @Handles(alive)
  alive() {
    return { alive: true };
  }

  @Handles(ready)
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const report = await this.readiness.report();
    if (!report.ready) reply.code(503).header('retry-after', '1');
    return report;
  }

  @Handles(metrics)
  async metrics(@Res() reply: FastifyReply) {
    await reply.type(this.registry.contentType).send(await this.registry.metrics());
  }

  @Handles(openApi)
  async openApi() {
    // Loaded when somebody asks: it is not needed to serve questions.
    const { openApiOf } = await import('./openapi.js');
    return openApiOf(this.routes.all, this.version);
  }

  @Handles(docs)
  async docs(@Res() reply: FastifyReply) {
    await reply.type('text/html; charset=utf-8').send(docsPage);
  }

  @Handles(docsAsset)
  async asset(@Param('file') file: string, @Res() reply: FastifyReply) {
    const content = await readFile(new URL(`./reference/${file}`, import.meta.url)).catch(() => {
      throw notFound('such file');
    });
    await reply.type(file.endsWith('.css') ? 'text/css' : 'text/javascript').send(content);
  }
}
