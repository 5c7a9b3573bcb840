import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../scripts/run-postgres.ts";
import { type Network, startNetwork, type Weather } from "../support/network.ts";
import { expectPagesUp, expectRefusedForNow, openScene } from "../support/scene.ts";

/** The client's own limits end every wait; a message behind another's wait has two of them before it. */
const ANSWERED_MS = 20_000;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);
afterAll(() => postgres?.stop(), 120_000);

interface Outage {
  title: string;
  begin(network: Network): Promise<void>;
  end(network: Network): Promise<void>;
  /** Whether the fault is in the network, which can count what it did. */
  isInNetwork: boolean;
}

function storm(title: string, weather: Weather): Outage {
  return {
    title,
    begin: (network) => network.become(weather),
    end: (network) => network.become({ kind: "open" }),
    isInNetwork: weather.kind !== "refused",
  };
}

const OUTAGES: Outage[] = [
  {
    title: "PostgreSQL stopped and started again",
    begin: () => postgres.halt(),
    end: () => postgres.resume(),
    isInNetwork: false,
  },
  storm("a refused connection", { kind: "refused" }),
  storm("a connection cut before COMMIT arrives", { kind: "cut-before", word: "COMMIT" }),
  storm("a connection cut during COMMIT", { kind: "cut-after", word: "COMMIT" }),
  // Each takes the client's own limits of some seconds, several times over.
  storm("a half-open socket", { kind: "silent" }),
  storm("an answer to COMMIT that never comes", { kind: "silent-after", word: "COMMIT" }),
  {
    title: "another node that keeps its turn",
    begin: async () => void (await postgres.administer("SELECT pg_advisory_lock(1112763752)")),
    end: async () => void (await postgres.administer("SELECT pg_advisory_unlock_all()")),
    isInNetwork: false,
  },
];

test.each(OUTAGES)(
  "$title: refused for now, pages up, nothing lost, recovers unaided",
  async (outage) => {
    const databaseUrl = await postgres.createDatabase();
    const scene = await openScene({ databaseUrl });
    const network = await startNetwork(postgres.port);
    const server = await scene.start({ DATABASE_URL: databaseUrl.replace(`:${postgres.port}/`, `:${network.port}/`) });
    await scene.visitors.post(server.url, 5);
    await scene.queueIsEmpty();

    onTestFinished(() => outage.end(network));
    await outage.begin(network);
    const answers = scene.visitors.post(server.url, 5);
    await expectPagesUp(server);
    expectRefusedForNow(await answers);
    for (const answer of await answers) expect(answer?.tookMs).toBeLessThan(ANSWERED_MS);
    const readiness = async () => (await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(6000) })).status;
    expect(await readiness()).toBe(503);
    if (outage.isInNetwork) expect(network.accidents).toBeGreaterThan(0);
    await outage.end(network);

    await expect.poll(readiness, { timeout: 20_000 }).toBe(200);
    expect(await scene.visitors.post(server.url, 5)).not.toContain(null);
    await scene.expectNothingLost(server);
  },
  120_000,
);
