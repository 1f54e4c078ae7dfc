/**
 * Starts the targets one after the other, lets `work` have them and stops them whatever happens. Those that are not
 * available here are passed as `missing`: `{name, label, why}`. So are optional ones that do not start.
 */
export async function withTargets(targets, work) {
  const started = [];
  const missing = [];
  try {
    for (const target of targets) {
      const why = target.unavailable() ?? (await startInto(started, target));
      if (why !== null) missing.push({ name: target.name, label: target.label, why });
    }
    return await work(started, missing);
  } finally {
    await Promise.all(started.map((target) => target.program.stop()));
  }
}

async function startInto(started, target) {
  try {
    started.push(await target.start());
    return null;
  } catch (error) {
    if (!target.optional) throw error;
    console.error(error);
    return `it does not start (${error.message.split('\n')[0]})`;
  }
}
