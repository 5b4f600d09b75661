'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const program = require('../program');

function folder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'tplkit-vscode-'));
}

/** A script in place of a program. */
function script(file, lines) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  return file;
}

const says = (version) => [`echo "tplkit ${version}"`];

/** Runs it with no other PATH than these folders and the system's. */
async function within(folders, work) {
  const before = process.env.PATH;
  process.env.PATH = [...folders, '/usr/bin', '/bin'].join(':');
  try {
    return await work();
  } finally {
    process.env.PATH = before;
  }
}

test('the setting goes before PATH, and PATH before what was installed', async () => {
  const [named, bin, storage] = [folder(), folder(), folder()];
  const setting = script(path.join(named, 'tplkit'), says('0.1.0'));
  const installed = script(path.join(storage, 'wheel/bin/tplkit'), says('0.1.0'));
  await within([], async () => {
    assert.equal(await program.find('', folder()), undefined);
    assert.equal(await program.find('', storage), installed);
  });
  script(path.join(bin, 'tplkit'), says('0.1.0'));
  await within([bin], async () => {
    assert.equal(await program.find('', storage), 'tplkit');
    assert.equal(await program.find(setting, storage), setting);
  });
});

test('a setting that names no program is an error, and so is another program', async () => {
  const other = script(path.join(folder(), 'other'), ['echo "other 1.0"']);
  for (const setting of ['/nowhere/tplkit', other]) {
    await assert.rejects(program.find(setting, folder()), /tplkit\.path/);
  }
});

test('npm installs into the folder of the extension', async () => {
  const [bin, storage] = [folder(), folder()];
  const platform = `@tplkit/${process.platform}-${process.arch}`;
  script(path.join(bin, 'npm'), [
    '[ "$1 $4 $6" = "install --prefix tplkit@0.1.0" ] || { echo "asked: $*" >&2; exit 1; }',
    `mkdir -p "$5/node_modules/${platform}/bin"`,
    `printf '#!/bin/sh\\necho "tplkit 0.1.0"\\n' > "$5/node_modules/${platform}/bin/tplkit"`,
    `chmod +x "$5/node_modules/${platform}/bin/tplkit"`,
  ]);
  await within([bin], async () => {
    const found = await program.install('with npm', storage, '0.1.0');
    assert.ok(found.startsWith(storage), found);
    assert.equal(await program.find('', storage), found);
  });
});

test('pip installs into an environment of its own, and failing is said', async () => {
  const [bin, storage] = [folder(), folder()];
  script(path.join(bin, 'python3'), [
    'mkdir -p "$3/bin"',
    `printf '#!/bin/sh\\n[ "$6" = tplkit==0.1.0 ] || { echo "asked: $*" >&2; exit 1; }\\n` +
      `printf "#!/bin/sh\\\\necho tplkit 0.1.0\\\\n" > "$(dirname "$0")/tplkit"; chmod +x "$(dirname "$0")/tplkit"\\n' > "$3/bin/python"`,
    'chmod +x "$3/bin/python"',
  ]);
  await within([bin], async () => {
    const found = await program.install('with pip', storage, '0.1.0');
    assert.equal(found, path.join(storage, 'wheel/bin/tplkit'));
    await assert.rejects(program.install('with pip', storage, '9.9.9'), /asked: .*tplkit==9\.9\.9/);
  });
});
