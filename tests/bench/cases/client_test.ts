/** What a server answers to the end of COPY's data is raised, not lost. */
import { rejects } from "node:assert/strict";
import { openPgDatabase } from "../../pg/support/pg_database.ts";
import { connect, copyIn } from "./client.ts";

Deno.test("copyIn() raises the error that comes behind the data", async () => {
  await using database = await openPgDatabase();
  const address = {
    name: "dbd",
    host: "127.0.0.1",
    port: database.port,
    user: "postgres",
    database: "postgres",
  };
  const client = connect(address);
  await client.unsafe("CREATE TABLE t (id INT PRIMARY KEY)");
  await copyIn(client, "COPY t FROM STDIN", ["1\n"]);
  await rejects(copyIn(client, "COPY t FROM STDIN", ["1\n", "2\n"]), { code: "23505" });
  await client.end();
});
