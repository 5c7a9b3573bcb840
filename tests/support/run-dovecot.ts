import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, join } from "node:path";

export const DOVECOT = "/usr/sbin/dovecot";
export const hasDovecot = existsSync(DOVECOT) && process.getuid?.() === 0;

/** A user of Debian's other than root: Dovecot reads no mails of root. */
const MAIL_USER = 8;

/** A real IMAP server with one mailbox, `team` with the password `secret`. */
export async function startDovecot(
  folder: string,
  { idle = true, hasTls = false }: { idle?: boolean; hasTls?: boolean } = {},
) {
  const base = join(folder, "run");
  const home = join(folder, "team");
  const port = await freePort();
  // Its users must reach the files.
  chmodSync(dirname(folder), 0o711);
  for (const path of [folder, base, home]) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
  }
  chownSync(home, MAIL_USER, MAIL_USER);
  writeFileSync(join(folder, "users"), "team:{PLAIN}secret\n");
  const config = join(folder, "dovecot.conf");
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  if (hasTls) {
    const parameters = `req -x509 -newkey rsa:2048 -nodes -subj /CN=test -addext subjectAltName=IP:0.0.0.0 -keyout ${key} -out ${certificate}`;
    if (spawnSync("openssl", parameters.split(" ")).status !== 0) throw new Error("openssl failed");
  }
  writeFileSync(
    config,
    `protocols = imap
base_dir = ${base}
log_path = ${folder}/dovecot.log
${hasTls ? `ssl = yes\nssl_key = <${key}\nssl_cert = <${certificate}` : "ssl = no"}
disable_plaintext_auth = no
listen = 127.0.0.1
default_internal_user = dovecot
default_login_user = dovenull
mail_location = maildir:${home}/Maildir
mailbox_list_index = no
maildir_very_dirty_syncs = no
first_valid_uid = 1
${idle ? "" : "imap_capability = IMAP4rev1 UIDPLUS\n"}service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
}
passdb {
  driver = passwd-file
  args = ${folder}/users
}
userdb {
  driver = static
  args = uid=${MAIL_USER} gid=${MAIL_USER} home=${home}
}
`,
  );
  let program: ChildProcess | null = null;
  let serial = 0;

  async function start(): Promise<void> {
    program = spawn(DOVECOT, ["-F", "-c", config], { stdio: "ignore", detached: true });
    for (;;) {
      const socket = createConnection(port, "127.0.0.1");
      const [greeting] = await once(socket, "data").catch(() => [null]);
      socket.destroy();
      if (String(greeting).includes("OK")) return;
      if (program.exitCode !== null) throw new Error("Dovecot ended");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (!program || program.exitCode !== null || program.signalCode !== null) return;
    const ended = once(program, "exit");
    // With the processes of its connections, which outlive it.
    if (program.pid !== undefined) process.kill(-program.pid, signal);
    await ended;
  }

  const pathOf = (name: string) => join(home, "Maildir", ...(name === "INBOX" ? [] : [`.${name}`]));

  function makeFolder(name: string): void {
    for (const part of ["", "tmp", "new", "cur"]) {
      mkdirSync(join(pathOf(name), part), { recursive: true });
      chownSync(join(pathOf(name), part), MAIL_USER, MAIL_USER);
    }
    chownSync(join(home, "Maildir"), MAIL_USER, MAIL_USER);
  }

  makeFolder("INBOX");
  await start();
  return {
    port,
    /** Trusted by nobody. */
    certificate,
    log: () => readFileSync(join(folder, "dovecot.log"), "utf8"),
    url: (folders = "", password = "secret") => `imap://team:${password}@127.0.0.1:${port}/${folders}`,
    start,
    stop,
    makeFolder,
    removeFolder: (name: string) => rmSync(pathOf(name), { recursive: true }),
    /** As a mail server delivers. What `isBroken`, the server then refuses to hand out. */
    deliver(raw: Buffer, name = "INBOX", isBroken = false): void {
      serial += 1;
      const file = `${Math.floor(Date.now() / 1000)}.M${serial}P${process.pid}.test`;
      const [tmp, target] = [join(pathOf(name), "tmp", file), join(pathOf(name), "new", file)];
      writeFileSync(tmp, raw);
      chownSync(tmp, MAIL_USER, MAIL_USER);
      if (isBroken) chmodSync(tmp, 0);
      renameSync(tmp, target);
    },
    /** The server gives all mails new numbers. */
    changeUidValidity: (name = "INBOX") => {
      for (const file of readdirSync(pathOf(name)).filter((one) => one.startsWith("dovecot")))
        rmSync(join(pathOf(name), file), { recursive: true });
      writeFileSync(join(pathOf(name), "dovecot-uidlist"), "3 V9999 N1\n");
      chownSync(join(pathOf(name), "dovecot-uidlist"), MAIL_USER, MAIL_USER);
    },
    /** The flags that Dovecot keeps in file names, by file. A mail that nobody has marked is in `new` or has none. */
    flags: (name = "INBOX") =>
      ["new", "cur"].flatMap((part) =>
        readdirSync(join(pathOf(name), part)).map((file) => /:2,(\w*)$/.exec(file)?.[1] ?? ""),
      ),
    files: (name = "INBOX") =>
      ["new", "cur"].flatMap((part) => readdirSync(join(pathOf(name), part)).map((file) => file.replace(/:2,.*$/, ""))),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}
