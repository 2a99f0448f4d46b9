/** The README's example of the library, so that its types are checked with those of all files. */
import { open } from "../../mod.ts";

await using database = await open(":memory:"); // or a directory; serve() starts a whole server
await database.execute("CREATE TABLE account (name TEXT PRIMARY KEY, balance NUMERIC(12,2) NOT NULL)");
await database.transaction(async (transaction) => { // repeated when it conflicts with another transaction
  await transaction.execute("INSERT INTO account VALUES ($1, $2), ($3, $4)", [
    "Ada",
    "100.00",
    "Bob",
    "20.50",
  ]);
  await transaction.execute("UPDATE account SET balance = balance - $1 WHERE name = $2", ["30", "Ada"]);
});
for (const row of await database.query("SELECT * FROM account ORDER BY name")) {
  console.log(row.name, row.balance);
}
