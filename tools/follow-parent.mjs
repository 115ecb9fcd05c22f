// Loaded before a script that bootstrap.mjs started: when that process is killed by force its end of the pipe closes, and the
// script is ended as if it had received the signal itself.
import { Socket } from 'node:net';

const parent = new Socket({ fd: 3 });
parent.on('error', () => undefined);
parent.on('close', () => process.kill(process.pid, 'SIGTERM'));
parent.resume();
parent.unref();

// A process that the script forks inherits the arguments of node. It has the channel to the script where the pipe is here, so
// it would fail at its start, or miss the message that ends it.
const own = process.execArgv.indexOf(import.meta.url);
if (own > 0) process.execArgv.splice(own - 1, 2);
