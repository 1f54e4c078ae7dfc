import { execFileSync } from 'node:child_process';

const UNPRIVILEGED_ACCOUNTS = ['postgres', 'nobody'];

/** PostgreSQL refuses to run as root: then another account's `{uid, gid}`, else nothing. */
export function serverAccount() {
  if (process.getuid() !== 0) return {};
  for (const name of UNPRIVILEGED_ACCOUNTS) {
    const entry = lookUp(name);
    if (entry) return entry;
  }
  throw new Error(`PostgreSQL cannot run as root, and none of ${UNPRIVILEGED_ACCOUNTS} is an account here`);
}

function lookUp(name) {
  try {
    const [, , uid, gid] = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).split(':');
    return { uid: Number(uid), gid: Number(gid) };
  } catch {
    return null;
  }
}
