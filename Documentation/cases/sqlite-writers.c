// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is the program of sqlite.md: threads write into one database in WAL mode, with one tagged
 * request for each transaction.
 *
 *	sqlite-writers FILE THREADS TRANSACTIONS [shared]
 *
 * Each thread has its own connection or, with "shared", all use the same one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ldb/ldb.h>
#include "sqlite3.h"

static const char *file;
static int nr_transactions;
static sqlite3 *shared;
static uint64_t last_id;

static void check(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE) {
		fprintf(stderr, "sqlite-writers: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
}

static sqlite3 *open_database(void)
{
	sqlite3 *db;

	check(NULL, sqlite3_open(file, &db));
	sqlite3_busy_timeout(db, 10000);
	check(db, sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
			       "CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b BLOB)", NULL, NULL, NULL));
	return db;
}

/* noinline: so that it has a name in the report. */
__attribute__((noinline)) static void transaction(sqlite3 *db, sqlite3_stmt *insert)
{
	/* One statement outside of BEGIN is a transaction. */
	check(db, sqlite3_step(insert));
	sqlite3_reset(insert);
}

static void *writer(void *arg)
{
	sqlite3 *db = shared ? shared : open_database();
	sqlite3_stmt *insert;

	(void)arg;
	check(db, sqlite3_prepare_v2(db, "INSERT INTO t(b) VALUES(randomblob(1000))", -1, &insert, NULL));
	for (int i = 0; i < nr_transactions; i++) {
		uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);

		ldb_req_start(id, NULL);
		transaction(db, insert);
		ldb_req_end(id);
	}
	sqlite3_finalize(insert);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread[64];

	if (argc < 4 || nr_threads < 1 || nr_threads > 64) {
		fprintf(stderr, "usage: sqlite-writers FILE THREADS TRANSACTIONS [shared]\n");
		return 2;
	}
	file = argv[1];
	nr_transactions = atoi(argv[3]);
	if (argc > 4 && !strcmp(argv[4], "shared"))
		shared = open_database();
	else
		sqlite3_close(open_database());
	for (int i = 0; i < nr_threads; i++)
		if (pthread_create(&thread[i], NULL, writer, NULL))
			return 1;
	for (int i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
