import './with-resolvers.mjs';
import { createServer } from 'node:http2';
import * as restate from '@restatedev/restate-sdk';
import Fastify from 'fastify';
import { onTermination } from '../on-termination.mjs';
import { Published } from './published.mjs';
import { startRestateServer } from './server.mjs';

const REGISTRATION_TIMEOUT_MS = 10_000;

const published = new Published();
const questions = restate.service({
  name: 'questions',
  handlers: {
    ask: async (context, question) => {
      const { id, promise } = context.awakeable();
      published.publish(context.request().id.toString(), id);
      const answer = await promise;
      return { ...question, state: 'answered', answer };
    },
  },
});

const endpoint = createServer(restate.createEndpointHandler({ services: [questions] }));
await new Promise((resolve) => endpoint.listen(0, '127.0.0.1', resolve));

// Where the asker learns which awakeable stands for its question.
const app = Fastify();
app.get('/awakeables/:invocation', async (request) => ({
  id: await published.take(request.params.invocation),
}));
const url = await app.listen({ port: 0, host: '127.0.0.1' });

const server = await startRestateServer({
  directory: process.env.DATA_DIR,
  partitions: process.env.PARTITIONS ? Number(process.env.PARTITIONS) : undefined,
});
onTermination(async () => {
  await app.close();
  await server.stop();
  endpoint.close();
});

const registration = await fetch(`${server.admin}/deployments`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ uri: `http://127.0.0.1:${endpoint.address().port}` }),
  signal: AbortSignal.timeout(REGISTRATION_TIMEOUT_MS),
});
if (!registration.ok)
  throw new Error(`registration failed: ${registration.status} ${await registration.text()}`);
console.log(`ready url=${server.ingress} published=${url}`);
