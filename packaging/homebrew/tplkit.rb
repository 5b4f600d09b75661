# The formula of both programs, from the archives of a release. The digests are those of no release: the
# release workflow fills them in from SHA256SUMS (packaging/release/homebrew.py) and attaches the result.
class Tplkit < Formula
  desc "Linter and deployment tool for workspace templates, and its server"
  homepage "https://github.com/tplkit/tplkit"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/tplkit/tplkit/releases/download/v#{version}/tplkit-#{version}-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/tplkit/tplkit/releases/download/v#{version}/tplkit-#{version}-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/tplkit/tplkit/releases/download/v#{version}/tplkit-#{version}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/tplkit/tplkit/releases/download/v#{version}/tplkit-#{version}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "tplkit", "tplkit-server"
    %w[tplkit tplkit-server].each do |program|
      generate_completions_from_executable(bin/program, "completions", shells: [:bash, :zsh, :fish])
      (man1/"#{program}.1").write Utils.safe_popen_read(bin/program, "man")
    end
  end

  def post_install
    (var/"tplkit").mkpath
  end

  service do
    run [opt_bin/"tplkit-server", "serve"]
    environment_variables TPLKIT_DATABASE_URL: "sqlite:#{var}/tplkit/tplkit.db"
    working_dir var/"tplkit"
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tplkit --version")
    system bin/"tplkit", "new", "crm", "-o", testpath/"crm/"
    system bin/"tplkit", "check", testpath/"crm"
    system bin/"tplkit-server", "migrate", "--database", "sqlite:#{testpath}/tplkit.db"
  end
end
