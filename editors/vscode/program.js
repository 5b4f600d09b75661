// Finds the program, or installs it into a folder of the extension. It knows nothing of VS Code, so that
// it is tested without.
'use strict';

const { execFile } = require('node:child_process');
const fs = require('node:fs/promises');
const os = require('node:os');
const path = require('node:path');

const windows = process.platform === 'win32';

/** The program's version, or nothing when it cannot be started. */
function version(program) {
  return new Promise((resolve) => {
    execFile(program, ['--version'], { timeout: 10_000 }, (error, out) => {
      const words = String(out).trim().split(' ');
      resolve(!error && words[0] === 'tplkit' ? words[1] : undefined);
    });
  });
}

/** Where the wheel and the npm package put the program, in this order. */
function installed(folder) {
  const platform = `${process.platform}-${process.arch}`;
  return [
    path.join(folder, 'wheel', windows ? 'Scripts/tplkit.exe' : 'bin/tplkit'),
    path.join(folder, 'npm', 'node_modules', '@tplkit', platform, 'bin', windows ? 'tplkit.exe' : 'tplkit'),
  ];
}

/**
 * The first program that can be started: the one of the setting, the one in PATH, the one that was installed.
 * A setting that names none is an error: another program would be a surprise.
 */
async function find(setting, folder) {
  if (setting) {
    const program = setting.replace(/^~(?=$|[\\/])/, os.homedir());
    if (await version(program)) return program;
    throw new Error(`tplkit.path is ${setting}, and that does not start tplkit`);
  }
  for (const program of ['tplkit', ...installed(folder)]) {
    if (await version(program)) return program;
  }
  return undefined;
}

function run(program, words, cwd) {
  return new Promise((resolve, reject) => {
    execFile(program, words, { cwd, timeout: 300_000, shell: windows && program === 'npm' }, (error, out, err) => {
      if (error) reject(new Error(`${program} ${words.join(' ')}: ${String(err || error.message).trim()}`));
      else resolve(out);
    });
  });
}

/** What this machine can install with: words for people, and how. */
const WAYS = {
  'with pip': async (folder, release) => {
    const wheel = path.join(folder, 'wheel');
    await run(windows ? 'python' : 'python3', ['-m', 'venv', wheel], folder);
    const python = path.join(wheel, windows ? 'Scripts/python.exe' : 'bin/python');
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `tplkit==${release}`], folder);
  },
  'with npm': async (folder, release) => {
    const words = ['install', '--no-audit', '--no-fund', '--prefix', path.join(folder, 'npm'), `tplkit@${release}`];
    await run('npm', words, folder);
  },
};

/** Installs a release in one of these ways; gives the program. */
async function install(way, folder, release) {
  await fs.mkdir(folder, { recursive: true });
  await WAYS[way](folder, release);
  for (const program of installed(folder)) {
    if ((await version(program)) === release) return program;
  }
  throw new Error(`tplkit ${release} was installed into ${folder}, and does not start there`);
}

module.exports = { WAYS: Object.keys(WAYS), find, install, version };
