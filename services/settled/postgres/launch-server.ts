import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import type { DataDirectory } from './data-directory.js';
import { directoryAccess, openDirectory } from './directory-access.js';
import type { ServerBinaries } from './server-binaries.js';
import { serverEnvironment } from './server-environment.js';
import { openServerLog } from './server-log.js';
import { DIRECTORY_SETTING, settingArguments } from './server-settings.js';
import { createSocketDirectory, removeSocketDirectory } from './socket-directory.js';

export interface LaunchOptions {
  readonly directory: DataDirectory;
  readonly binaries: ServerBinaries;
  readonly logFile: string;
  readonly settings: Record<string, string>;
}

export interface LaunchedServer {
  readonly pid: number;
  /** Where its words begin in the log. */
  readonly logStart: number;
  hasExited(): boolean;
}

/** Starts a server process; that it becomes ready is read from the directory, for ours as for anybody's. */
export async function launchServer(options: LaunchOptions): Promise<LaunchedServer> {
  const { directory, binaries, logFile, settings } = options;
  const handle = await openDirectory(await realpath(directory.path));
  const serverLog = await openServerLog(logFile, directory.account);
  const sockets = await createSocketDirectory(directory.account);
  try {
    const { argument, inherited } = directoryAccess(directory.path, handle, directory.account);
    const places = { unix_socket_directories: `"${sockets}"`, [DIRECTORY_SETTING]: directory.identity };
    const child = spawn(binaries.postgres, ['-D', argument, ...settingArguments(places, settings)], {
      ...directory.account,
      cwd: '/',
      env: serverEnvironment(),
      // A session of its own: Ctrl-C in the terminal reaches us only, and we stop the server in order.
      detached: true,
      stdio: ['ignore', serverLog.handle.fd, serverLog.handle.fd, ...inherited],
    });
    let exited = false;
    child.once('exit', () => {
      exited = true;
      void removeSocketDirectory(sockets);
    });
    child.unref();
    await once(child, 'spawn');
    return { pid: child.pid ?? 0, logStart: serverLog.start, hasExited: () => exited };
  } catch (error) {
    await removeSocketDirectory(sockets);
    throw error;
  } finally {
    await Promise.all([handle.close(), serverLog.handle.close()]);
  }
}
