/* Makes the plan of a text: what replaces its steps, and the steps. */
#include "expr/eval.h"
#include "expr/exponentials.h"
#include "expr/fused/fused_plan.h"
#include "expr/text/parse.h"

/* Takes ownership of the graph. The host computes the exponentials of many elements at once where a
 * pass has nothing else to do: there, the passes stay as they are. */
static ga__plan *plan_rows_and_steps(ga__graph *graph, const ga__device *device, int most_parts)
{
    ga__fused *rows;
    if (ga__fuse_rows(graph, &rows) != GA_OK) {
        ga__graph_reset(graph);
        return NULL;
    }
    graph->small = rows && rows->formula.pairs != GA_NO_DTYPE && !ga__on_host(device);
    const bool merged = !ga__on_host(device) && ga__merge_exponentials(graph);
    ga__plan *plan = ga__plan_new(graph, most_parts);
    if (plan && (merged || plan->nsteps > 1)) {
        plan->fused = rows;
        if (rows) {
            rows->formula.joins = merged;
            rows->formula.one_step = plan->nsteps == 1;
        }
    } else {
        ga__fused_free(rows);
    }
    return plan;
}

ga__plan *ga__eval_plan(const char *text, const ga__ast *ast, const ga__device *device, int count,
                        const ga_named *args, int most_parts)
{
    ga__ast own = {.text = NULL};
    ga__graph graph;
    if (!ast && ga__ast_parse(&own, text) != GA_OK)
        return NULL;
    const ga_status status = ga__graph_make(&graph, ast ? ast : &own, count, args);
    ga__ast_reset(&own);
    if (status != GA_OK)
        return NULL;
    return most_parts > 1 ? plan_rows_and_steps(&graph, device, most_parts)
                          : ga__plan_new(&graph, most_parts);
}
