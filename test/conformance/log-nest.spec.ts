import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LogTransport } from '#bus';
import { eventually } from '../support/eventually.js';
import { append } from '../support/log.js';
import { note } from '../support/log-entries.js';
import { projectEnvelope } from '../support/questions.js';
import { Consumer } from './bus-harness.js';
import { LogHarness } from './log-harness.js';

const retry = { attempts: 2, firstPauseMs: 5, longestPauseMs: 20 };

let bus: LogHarness;
beforeAll(async () => {
  bus = await LogHarness.start();
});
afterAll(() => bus.stop());

describe('a handler whose errors Nest hides', () => {
  test('costs no event: it is retried, and the health says what to do', async () => {
    @Controller()
    class Plain {
      @EventPattern<string>('noted')
      noted() {
        throw new Error('who knows');
      }
    }
    const group = randomUUID();
    await append(bus.own.log, note(randomUUID(), 1));
    const project = () => '{}';
    const member = await bus.join({ group, controllers: [Plain], retry, project });
    await eventually(() => member.health().detail.includes('@Subscribe'));
    expect(member.health().ok).toBe(false);
    await member.stop();
    expect(await bus.deadLetters(group)).toEqual([]);
  });
});

describe('an application', () => {
  test('may hold several groups, each with its own handlers', async () => {
    const consumers = [new Consumer(randomUUID()), new Consumer(randomUUID())];
    const groups = consumers.map(({ group }) => group);
    const root = class {};
    Module({ controllers: consumers.map(({ controller }) => controller) })(root);
    const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false });
    for (const group of groups) {
      app.connectMicroservice({
        strategy: new LogTransport({ log: bus.own.log, group, project: projectEnvelope, from: 'end' }),
      });
    }
    await app.startAllMicroservices();
    const asked = await eventually(async () => {
      const event = await bus.ask();
      return consumers.every((consumer) => consumer.done.length > 0) ? event : undefined;
    });
    await eventually(() => consumers.every((consumer) => consumer.times(asked as never) === 1));
    await app.close();
    for (const consumer of consumers) {
      const positions = consumer.done.map(({ event }) => event.position);
      expect(new Set(positions).size).toBe(positions.length);
    }
  });

  test('cannot answer requests over the bus', () => {
    class Requests {
      @MessagePattern('settle')
      settle() {}
    }
    const root = class {};
    Module({ controllers: [Requests] })(root);
    Controller()(Requests);
    const strategy = new LogTransport({ log: bus.own.log, group: 'requests', project: projectEnvelope });
    return expect(
      NestFactory.createMicroservice(root, { strategy, logger: false, abortOnError: false }).then((app) =>
        app.init(),
      ),
    ).rejects.toThrow('settle is a request');
  });
});
