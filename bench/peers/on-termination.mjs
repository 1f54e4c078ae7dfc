/** Runs `stop` once at SIGTERM or SIGINT and then ends the process. */
export function onTermination(stop) {
  let stopping = false;
  const end = async () => {
    if (stopping) return;
    stopping = true;
    let code = 0;
    try {
      await stop();
    } catch (error) {
      console.error(error);
      code = 1;
    }
    process.exit(code);
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}
