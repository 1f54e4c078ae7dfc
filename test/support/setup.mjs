// Jest's globalSetup and globalTeardown run in plain Node, which needs to be told how to read TypeScript.
import './typescript.mjs';

export default async function setup() {
  const { startForAllTests } = await import('./postgres-server.ts');
  const { offerKafka } = await import('./kafka-server.ts');
  await Promise.all([startForAllTests(), offerKafka()]);
}
