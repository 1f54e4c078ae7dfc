import { startHost } from './host.js';
import { hostSettings } from './settings.js';

const host = await startHost(hostSettings(process.env));
if (host.adminKeyFile !== undefined) console.log(`settled admin key in ${host.adminKeyFile}`);
console.log(`settled ready url=${host.url}`);
const stop = () => {
  host.stop().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
