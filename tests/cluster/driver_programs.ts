/**
 * Drivers of PostgreSQL's protocol that go on across failovers, each by the rules of `docs/cluster.md` and nothing
 * more: 40001, 57P01 and 57P03 are run again; after 40003 and a connection that broke they look first. Each program
 * writes transactions until a file is there, and then prints how many it has acknowledged; anything else that fails
 * ends it.
 */

/** Usage: PORTS FILE, where PORTS are those of all members, with commas between. */
export const PSYCOPG = `
import os, random, sys, time, psycopg
ports, stop = sys.argv[1].split(","), sys.argv[2]
def connect():
    random.shuffle(ports)
    return psycopg.connect(host=",".join("127.0.0.1" for _ in ports), port=",".join(ports), user="psycopg", dbname="db",
                           connect_timeout=5)
def write(c, id):
    with c.transaction():
        c.execute("INSERT INTO written VALUES ('psycopg', %s)", (id,))
        c.execute("UPDATE counter SET value = value + 1 WHERE driver = 'psycopg'")
c, id, looks = None, 1, False
while not os.path.exists(stop):
    try:
        if c is None:
            c = connect()
        if not looks or c.execute("SELECT FROM written WHERE driver = 'psycopg' AND id = %s", (id,)).fetchone() is None:
            c.rollback()
            write(c, id)
        c.rollback()
        id, looks = id + 1, False
        time.sleep(0.005)
    except psycopg.Error as error:
        state = error.sqlstate
        if state not in (None, "40001", "40003", "57P01", "57P03", "08006"):
            raise
        looks = looks or state in (None, "40003", "08006")
        if c is not None:
            c.close()
        c = None
        time.sleep(0.02)
print(id - 1)
`;

/** The same for JDBC. */
export const JDBC = `
import java.nio.file.*;
import java.sql.*;
import java.util.*;
public class Main {
  static Connection connect(List<String> ports) throws Exception {
    Collections.shuffle(ports);
    StringJoiner hosts = new StringJoiner(",");
    for (String port : ports) hosts.add("127.0.0.1:" + port);
    return DriverManager.getConnection("jdbc:postgresql://" + hosts + "/db?user=jdbc&loginTimeout=5&connectTimeout=5");
  }
  static boolean isThere(Connection c, int id) throws Exception {
    try (ResultSet r = c.createStatement().executeQuery("SELECT 1 FROM written WHERE driver = 'jdbc' AND id = " + id)) {
      boolean found = r.next();
      c.commit();
      return found;
    }
  }
  static void write(Connection c, int id) throws Exception {
    try (PreparedStatement p = c.prepareStatement("INSERT INTO written VALUES ('jdbc', ?)")) { p.setInt(1, id); p.executeUpdate(); }
    try (Statement s = c.createStatement()) { s.executeUpdate("UPDATE counter SET value = value + 1 WHERE driver = 'jdbc'"); }
    c.commit();
  }
  public static void main(String[] a) throws Exception {
    List<String> ports = new ArrayList<>(Arrays.asList(a[0].split(",")));
    List<String> allowed = Arrays.asList("40001", "40003", "57P01", "57P03", "08000", "08001", "08003", "08004", "08006");
    Connection c = null;
    int id = 1;
    boolean looks = false;
    while (!Files.exists(Path.of(a[1]))) {
      try {
        if (c == null) { c = connect(ports); c.setAutoCommit(false); }
        if (!looks || !isThere(c, id)) write(c, id);
        id++;
        looks = false;
        Thread.sleep(5);
      } catch (SQLException e) {
        String state = e.getSQLState();
        if (!allowed.contains(state)) throw e;
        looks = looks || state.startsWith("08") || state.equals("40003");
        if (c != null) try { c.close(); } catch (SQLException gone) { }
        c = null;
        Thread.sleep(20);
      }
    }
    System.out.println(id - 1);
  }
}
`;

/** What pgbench runs: as `written`, with numbers of a sequence. */
export const PGBENCH = `BEGIN;
INSERT INTO written SELECT 'pgbench', nextval('pgbench_ids');
UPDATE counter SET value = value + 1 WHERE driver = 'pgbench';
COMMIT;
`;
