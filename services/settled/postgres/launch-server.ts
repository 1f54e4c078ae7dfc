import { type ChildProcess, spawn } from 'node:child_process';
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
  const sockets = await createSocketDirectory(options.directory.account);
  try {
    return await launchWithSocketsIn(sockets, options);
  } catch (error) {
    await removeSocketDirectory(sockets);
    throw error;
  }
}

async function launchWithSocketsIn(sockets: string, options: LaunchOptions): Promise<LaunchedServer> {
  const { directory, logFile } = options;
  const serverLog = await openServerLog(logFile, directory.account);
  const handle = await openDirectory(await realpath(directory.path));
  try {
    const { argument, inherited } = directoryAccess(directory.path, handle, directory.account);
    const child = spawn(options.binaries.postgres, ['-D', argument, ...parameters(sockets, options)], {
      ...directory.account,
      cwd: '/',
      env: serverEnvironment(),
      // A session of its own: Ctrl-C in the terminal reaches us only, and we stop the server in order.
      detached: true,
      stdio: ['ignore', serverLog.handle.fd, serverLog.handle.fd, ...inherited],
    });
    const isOver = watchExit(child, () => removeSocketDirectory(sockets));
    await once(child, 'spawn');
    return { pid: child.pid ?? 0, logStart: serverLog.start, hasExited: isOver };
  } finally {
    await Promise.all([handle.close(), serverLog.handle.close()]);
  }
}

function parameters(sockets: string, { directory, settings }: LaunchOptions): string[] {
  const places = { unix_socket_directories: `"${sockets}"`, [DIRECTORY_SETTING]: directory.identity };
  return settingArguments(places, settings);
}

function watchExit(child: ChildProcess, onExit: () => Promise<void>): () => boolean {
  let exited = false;
  child.once('exit', () => {
    exited = true;
    void onExit();
  });
  // What keeps us alive is the claim; a server that somebody else claimed must not.
  child.unref();
  return () => exited;
}
