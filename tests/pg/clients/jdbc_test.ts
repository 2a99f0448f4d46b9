/** The JDBC driver, where it and a JDK are installed: values, batches, fetch size, savepoints, calls, metadata. */
import { deepStrictEqual as same, strictEqual as equal } from "node:assert/strict";
import { isInstalled, reportNotRun } from "../../../tools/not_run.ts";
import { openPgDatabase } from "../support/pg_database.ts";

const DRIVER = "/usr/share/java/postgresql.jar";

const PROGRAM = `
import java.sql.*;
public class Main {
  static void is(Object a, Object b) { if (!a.equals(b)) throw new RuntimeException(a + " is not " + b); }
  static int count(ResultSet r) throws Exception { int n = 0; while (r.next()) n++; return n; }
  public static void main(String[] a) throws Exception {
    for (String mode : new String[] {"", "&prepareThreshold=1&binaryTransfer=true", "&preferQueryMode=simple"}) {
      Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + a[0] + "/shop?user=ann&password=x" + mode);
      Statement s = c.createStatement();
      s.execute("drop table if exists child; drop table if exists t");
      s.execute("create table t (id bigserial primary key, a numeric(8, 2), b text, c timestamptz)");
      s.execute("create table child (id int primary key, t bigint references t (id))");
      PreparedStatement p = c.prepareStatement("insert into t (a, b, c) values (?, ?, ?)", Statement.RETURN_GENERATED_KEYS);
      for (int n = 1; n <= 6; n++) {
        p.setBigDecimal(1, new java.math.BigDecimal("1.50")); p.setString(2, "b" + n);
        p.setObject(3, java.time.OffsetDateTime.parse("2024-01-02T03:04:05.678901Z")); is(p.executeUpdate(), 1);
        ResultSet g = p.getGeneratedKeys(); g.next(); is(g.getLong(1), (long) n);
      }
      for (int n = 0; n < 200; n++) { p.setBigDecimal(1, null); p.setString(2, "x"); p.setNull(3, Types.TIMESTAMP_WITH_TIMEZONE); p.addBatch(); }
      is(p.executeBatch().length, 200);
      ResultSet r = s.executeQuery("select a, b, c from t where id = 6"); r.next();
      is(r.getBigDecimal(1), new java.math.BigDecimal("1.50")); is(r.getString(2), "b6");
      is(r.getObject(3, java.time.OffsetDateTime.class).toInstant(), java.time.Instant.parse("2024-01-02T03:04:05.678901Z"));
      c.setAutoCommit(false);
      Statement f = c.createStatement(); f.setFetchSize(50); is(count(f.executeQuery("select * from t")), 206);
      Savepoint point = c.setSavepoint();
      try { s.execute("insert into t (id) values (1)"); throw new RuntimeException("no error"); }
      catch (SQLException e) { is(e.getSQLState(), "23505"); }
      c.rollback(point); c.commit(); c.setAutoCommit(true);
      c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      is(c.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ);
      // In its simple mode the driver has no calls with results.
      if (!mode.contains("simple")) {
        CallableStatement call = c.prepareCall("{? = call upper(?)}");
        call.registerOutParameter(1, Types.VARCHAR); call.setString(2, "x"); call.execute(); is(call.getString(1), "X");
      }
      DatabaseMetaData d = c.getMetaData();
      is(count(d.getColumns(null, "public", "t", "%")), 4); is(count(d.getPrimaryKeys(null, "public", "t")), 1);
      is(count(d.getImportedKeys(null, "public", "child")), 1); is(count(d.getIndexInfo(null, "public", "t", false, false)), 1);
      c.close();
    }
    System.out.println("good");
  }
}
`;

Deno.test("JDBC writes, batches, fetches piece by piece, calls and browses", async () => {
  const hasDriver = await Deno.stat(DRIVER).then(() => true, () => false);
  if (!hasDriver || !await isInstalled("javac")) {
    return reportNotRun("JDBC", "a JDK or libpostgresql-jdbc-java is not installed");
  }
  await using database = await openPgDatabase();
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/Main.java`, PROGRAM);
    const { stdout, stderr } = await new Deno.Command("java", {
      args: ["-cp", DRIVER, `${folder}/Main.java`, String(database.port)],
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    equal(decoder.decode(stdout) + decoder.decode(stderr), "good\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  same(database.internalErrors, []);
});
