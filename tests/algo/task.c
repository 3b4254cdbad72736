/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include <math.h>

static mill_err call_bfs(mill_run *r, const void *how) { return mill_bfs(r, how); }
static mill_err call_sssp(mill_run *r, const void *how) { return mill_sssp(r, how); }
static mill_err call_pagerank(mill_run *r, const void *how) { return mill_pagerank(r, how); }
static mill_err call_cc(mill_run *r, const void *how) { return mill_cc(r, how); }
static mill_err call_bc(mill_run *r, const void *how) { return mill_bc(r, how); }

static mill_err call_kcore(mill_run *r, const void *how)
{
	(void)how;
	return mill_kcore(r);
}

static mill_err call_scc(mill_run *r, const void *how)
{
	(void)how;
	return mill_scc(r);
}

static mill_err call_degrees(mill_run *r, const void *how)
{
	(void)how;
	return mill_degrees(r);
}

const struct task tasks[N_TASKS] = {
	{ "bfs", "bfs", call_bfs, &(struct mill_bfs){ "max-degree" }, false, true, BITS },
	{ "sssp", "sssp", call_sssp, &(struct mill_sssp){ .source = "max-degree" }, true, true,
	  BITS },
	{ "kcore", "kcore", call_kcore, NULL, false, true, BITS },
	{ "sssp, narrow steps", "sssp", call_sssp,
	  &(struct mill_sssp){ .source = "max-degree", .delta = 0.5 }, true, false, BITS },
	{ "sssp, unit weights", "sssp", call_sssp,
	  &(struct mill_sssp){ .source = "max-degree", .unit_weights = true }, false, false, BITS },
	{ "cc, afforest", "cc", call_cc, &(struct mill_cc){ MILL_CC_AFFOREST }, false, false,
	  BITS },
	{ "cc, hooking", "cc", call_cc, &(struct mill_cc){ MILL_CC_HOOKING }, false, false, BITS },
	{ "cc, labels", "cc", call_cc, &(struct mill_cc){ MILL_CC_LABELS }, false, false, BITS },
	{ "scc", "scc", call_scc, NULL, false, false, BITS },
	{ "degrees", "degrees", call_degrees, NULL, false, false, BITS },
	{ "pagerank, exact", "pagerank", call_pagerank,
	  &(struct mill_pagerank){ .tolerance = -1, .iterations = 4, .precision = MILL_EXACT },
	  false, false, BITS },
	{ "pagerank", "pagerank", call_pagerank,
	  &(struct mill_pagerank){ .tolerance = -1, .iterations = 4 }, false, false, F32 },
	{ "bc", "bc", call_bc, &(struct mill_bc){ .sources = "random:2" }, false, false, F64 },
};

/* ---- Answers ---- */

static struct answer ask(mill_run *run, const struct task *t)
{
	struct answer a = { .err = t->call(run, t->how) };
	u64 n = run->store->vertices;
	f32 *narrow;

	if (a.err)
		return a;
	a.hash = hash_of(run);
	if (t->promise == BITS)
		return a;
	a.score = calloc(n + 1, sizeof(f64));
	if (t->promise == F64) {
		OK(mill_run_values(run, "score", false, a.score, NULL));
		return a;
	}
	narrow = calloc(n + 1, sizeof(f32));
	OK(mill_run_values(run, "score", false, narrow, NULL));
	for (u64 v = 0; v < n; v++)
		a.score[v] = (f64)narrow[v];
	free(narrow);
	return a;
}

bool task_suits(const struct task *t, mill_store *store)
{
	struct mill_info info;

	mill_store_info(store, &info);
	return !t->weighted || info.weight;
}

void answers_begin(struct answer out[N_TASKS], mill_store *store)
{
	mill_run *run;

	OK(mill_run_new(&run, store,
			&(struct mill_options){ .threads = 2, .memory = GIB, .seed = 1 }));
	for (size_t t = 0; t < N_TASKS; t++)
		out[t] = task_suits(&tasks[t], store) ? ask(run, &tasks[t]) : (struct answer){ 0 };
	mill_run_free(run);
}

void answers_end(struct answer answer[N_TASKS])
{
	for (size_t t = 0; t < N_TASKS; t++)
		free(answer[t].score);
}

void expect_answer(const char *where, mill_run *run, const struct task *t,
		   const struct answer *want)
{
	struct answer got = ask(run, t);
	struct mill_report report;

	if (got.err != want->err)
		fail_msg("%s: %s: error %d, not %d: %s", where, t->name, (int)got.err,
			 (int)want->err, mill_error());
	if (got.err)
		return;
	mill_run_report(run, &report);
	for (size_t i = 0; i < report.n_devices; i++)
		if (report.devices[i].peak > report.devices[i].budget)
			fail_msg("%s: %s: the peak of device %zu is above its budget", where,
				 t->name, i);
	if (report.memory_peak > report.memory_budget)
		fail_msg("%s: %s: the peak of host memory is above the budget", where, t->name);
	if (t->promise == BITS && got.hash != want->hash)
		fail_msg("%s: %s: the hash differs from the CPU's", where, t->name);
	for (u64 v = 0; got.score && v < run->store->vertices; v++)
		if (!(fabs(got.score[v] - want->score[v]) <=
		      ANSWER_TOLERANCE * fabs(want->score[v])))
			fail_msg("%s: %s: vertex %llu has score %.17g, not %.17g", where,
				 t->name, (unsigned long long)v, got.score[v], want->score[v]);
	if (mill_run_check(run))
		fail_msg("%s: %s: the certificate fails: %s", where, t->name, mill_error());
	free(got.score);
}

void task_room(mill_run *run, const struct task *t, u64 more)
{
	struct mill_plan plan;

	for (u32 i = 0; i < run->n_opened; i++)
		run->opened[i]->memory->limit = 512 * MIB;
	OK(mill_run_plan(run, t->algorithm, t->how, &plan));
	for (u32 i = 0; i < run->n_opened; i++) {
		run->opened[i]->memory->limit = plan.device_needed + more;
		run->opened[i]->memory->peak = 0;
	}
	run->loaded = false;	/* data on the devices may not fit */
}
