//! Shells that complete what is typed: each loads the script of a program where package managers put it, gets
//! lines with a tabulator behind them, and says what they become.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the last word of each line becomes: the first that is offered where several fit. Nothing where the
/// shell (`bash`, `fish` or `zsh`) is not installed, which is said. The folder is home and working folder.
///
/// # Panics
/// Where the program or the shell fails.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
pub fn completed(
    shell: &str,
    program: &Path,
    folder: &Path,
    lines: &[&str],
) -> Option<Vec<String>> {
    let name = program.file_name().expect("a name").to_string_lossy();
    let mut asked = Command::new(shell);
    asked.arg("--version").stdin(Stdio::null());
    if asked.output().is_err() {
        eprintln!("SKIPPED: there is no {shell}");
        return None;
    }
    let (script, drive) = match shell {
        "bash" => (format!("{name}.bash"), BASH),
        "fish" => (format!("config/fish/completions/{name}.fish"), FISH),
        _ => (format!("functions/_{name}"), ZSH),
    };
    let written = Command::new(program).args(["completions", shell]).output();
    write(folder, &script, &written.expect("starts").stdout);
    if shell == "zsh" {
        write(folder, ".zshrc", ZSH_SETTINGS.as_bytes());
    }

    let programs = program.parent().expect("a folder").as_os_str();
    let output = Command::new(shell)
        .args(["-c", drive, &name])
        .args(lines)
        .current_dir(folder)
        .env_clear()
        .env("PATH", [programs, &path()].join(&OsString::from(":")))
        .env("HOME", folder)
        .env("ZDOTDIR", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .expect("the shell runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stdout);
    Some(said.lines().map(str::to_owned).collect())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment of the test process is its input"
)]
fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn write(folder: &Path, name: &str, text: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("writes");
}

/// The function of the script is called as readline does it, which takes words apart at `=` and keeps what stands before
/// the last piece.
const BASH: &str = r#"
. "./$0.bash"
[[ $(complete -p "$0") =~ -F\ ([^ ]+) ]] && function=${BASH_REMATCH[1]}
compopt() { :; } # it serves readline alone
for COMP_LINE in "$@"; do
  read -ra COMP_WORDS <<< "${COMP_LINE//=/ = }"
  last=${COMP_LINE##* } kept=
  [[ $last == *=* ]] && kept=${last%=*}=
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMPREPLY=()
  "$function" "$0" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  echo "$kept${COMPREPLY[0]}"
done
"#;

/// fish says itself what it offers for a line; behind a tabulator stands what the word means.
const FISH: &str = r"
for line in $argv[2..]
    set offered (complete --do-complete $line)
    echo (string split \t -- $offered[1])[1]
end
";

/// zsh at a terminal: a key makes it write down the line that is typed, and begin another one.
const ZSH_SETTINGS: &str = r#"
fpath=(~/functions $fpath)
autoload -Uz compinit && compinit -D -u
setopt menu_complete
written() { print -r -- "${${(z)BUFFER}[-1]}" >> ~/words; BUFFER= }
zle -N written
bindkey '^I' complete-word
bindkey '^X' written
zle-line-init() { print >> ~/began }
zle -N zle-line-init
PROMPT=
"#;

/// Each line is typed when the one before has been written down; none takes longer than half a minute.
const ZSH: &str = r#"
zmodload zsh/zpty
begun() { [[ -s began ]] }
written() { [[ -r words && $(wc -l < words) -ge $lines ]] }
patiently() {
  for _ in {1..600}; do
    $1 && return
    zpty -rt terminal shown && print -nru2 -- $shown
    sleep 0.05
  done
  exit 1
}
zpty terminal zsh -i
patiently begun
lines=0
for line in "$@"; do
  (( lines += 1 ))
  zpty -wn terminal "$line"$'\t\x18'
  patiently written
done
zpty -d terminal
cat words
"#;
