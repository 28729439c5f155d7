"""What SQL may ask of Spark: an allow-list, of the parts of a plan and of functions.

Spark's SQL can run programs (``TRANSFORM … USING 'command'``), call Java (``reflect``), read and
write files and load code, and every version adds to it. So the plan of a question is looked at, as
it is parsed, before Spark has begun to resolve anything in it, and again when it is resolved: each
node has to be one of those below. What is not known is refused, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Parts of a question, by the names of their classes.
_PLANS = _words("""
    Aggregate CTERelationDef CTERelationRef CurrentNamespace$ Deduplicate DescribeQueryCommand
    DescribeRelation DescribeTableCommand Distinct Except Expand ExplainCommand Filter Generate
    GlobalLimit Intersect Join LateralJoin LimitAll LocalLimit LocalRelation LogicalRDD
    LogicalRelation Offset OneRowRelation PipeOperator Pivot Project Range Repartition
    RepartitionByExpression ResolvedHint ResolvedNamespace ResolvedTempView Sample ShowColumns
    ShowColumnsCommand ShowTables ShowTablesCommand Sort SubqueryAlias Tail Union UnionLoop
    UnionLoopRef Unpivot UnresolvedHaving UnresolvedHint UnresolvedInlineTable
    UnresolvedNamespace UnresolvedOrderBy UnresolvedRelation UnresolvedSubqueryColumnAliases
    UnresolvedTableOrView UnresolvedTableValuedFunction UnresolvedWith View Window WithCTE
    WithWindowDefinition
""")
_NAMES = _words("""
    MultiAlias NameParameterized NamedWindowExpression UnresolvedAlias UnresolvedAttribute
    UnresolvedCollation UnresolvedExtractValue UnresolvedFunction UnresolvedGenerator
    UnresolvedInlineTable UnresolvedNTile UnresolvedNamedLambdaVariable UnresolvedOrdinal
    UnresolvedRegex UnresolvedStar UnresolvedStarExceptOrReplace UnresolvedSubqueryColumnAliases
    UnresolvedWindowExpression
""")
# Expressions that run what is not Spark's own, whichever way they got into a plan.
_NEVER = _words("""
    ApplyFunctionExpression CallMethodViaReflection ExpressionWithUnresolvedIdentifier
    HiveGenericUDF HiveGenericUDTF HiveSimpleUDF HiveUDAFFunction InputFileName NamedParameter
    PosParameter PythonUDAF PythonUDF PythonUDTF ScalaUDAF ScalaUDF TryReflect
    UnresolvedDereference UserDefinedExpression V2Aggregator VariableReference
""")
_FUNCTIONS = _words("""
    ! % & * + - / < << <= <=> = == > >= >> >>> ^ abs acos acosh add_months aggregate and any
    any_value approx_count_distinct approx_percentile array array_agg array_append array_compact
    array_contains array_distinct array_except array_insert array_intersect array_join array_max
    array_min array_position array_prepend array_remove array_repeat array_size array_sort
    array_union arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh avg base64 between
    bigint bin binary bit_and bit_count bit_get bit_length bit_or bit_xor bool_and bool_or
    boolean bround btrim cardinality cast cbrt ceil ceiling char char_length character_length
    chr coalesce collect_list collect_set concat concat_ws contains conv corr cos cosh cot count
    count_if covar_pop covar_samp crc32 csc cume_dist curdate current_date current_timestamp
    date date_add date_diff date_format date_part date_sub date_trunc dateadd datediff datepart
    day dayname dayofmonth dayofweek dayofyear decimal decode degrees dense_rank div double e
    element_at elt encode endswith equal_null every exists exp explode explode_outer expm1
    extract factorial filter find_in_set first first_value flatten float floor forall
    format_number format_string from_json from_unixtime get get_json_object getbit greatest
    grouping grouping_id hash hex histogram_numeric hour hypot if ifnull ilike in initcap inline
    inline_outer instr int isnan isnotnull isnull json_array_length json_object_keys json_tuple
    kurtosis lag last last_day last_value lcase lead least left len length levenshtein like
    listagg ln locate log log10 log1p log2 lower lpad ltrim make_date make_interval
    make_timestamp map map_concat map_contains_key map_entries map_filter map_from_arrays
    map_from_entries map_keys map_values map_zip_with mask max max_by md5 mean median min min_by
    minute mod mode month monthname months_between named_struct nanvl negative next_day not now
    nth_value ntile nullif nullifzero nvl nvl2 octet_length or overlay percent_rank percentile
    percentile_approx percentile_cont percentile_disc pi pmod posexplode posexplode_outer
    position positive pow power printf quarter quote radians rand randn random range rank reduce
    regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right rint rlike round
    row_number rpad rtrim sec second sentences sequence sha sha1 sha2 shiftleft shiftright
    shiftrightunsigned shuffle sign signum sin sinh size skewness slice smallint some sort_array
    soundex space split split_part sqrt stack startswith std stddev stddev_pop stddev_samp
    str_to_map string string_agg struct substr substring substring_index sum tan tanh timestamp
    tinyint to_binary to_char to_date to_json to_number to_timestamp to_unix_timestamp
    to_varchar transform transform_keys transform_values translate trim trunc try_add try_avg
    try_divide try_element_at try_mod try_multiply try_subtract try_sum try_to_binary
    try_to_number typeof ucase unbase64 unhex unix_timestamp upper var_pop var_samp variance
    weekday weekofyear when width_bucket xxhash64 year zeroifnull zip_with | ~
""")
_FORMATS = ("parquet", "csv", "json", "orc", "text")


def refused(plan: Any, jvm: Any, *, files: bool) -> str:
    """What a parsed plan has that is not allowed, in words; empty where nothing is."""
    for node in _nodes(plan, jvm):
        name = _class(node)
        package, _, simple = name.rpartition(".")
        if jvm.isinstance(node, _LOGICAL + "LogicalPlan"):
            wrong = _wrong_plan(simple, node, files)
        elif simple in _NEVER or not _is_known(package + ".", simple):
            wrong = simple
        else:
            wrong = _wrong_function(simple, node)
        if wrong:
            return wrong
    return ""


def refused_when_resolved(plan: Any, jvm: Any) -> str:
    """What a resolved plan has that runs what is not Spark's own, in words; or empty."""
    for node in _nodes(plan, jvm):
        simple = _class(node).rpartition(".")[2]
        plain = not jvm.isinstance(node, _LOGICAL + "LogicalPlan")
        if simple in _NEVER or not (plain or simple in _PLANS):
            return simple
    return ""


def _is_known(package: str, simple: str) -> bool:
    if package == _ANALYSIS:
        return simple in _NAMES
    return package.startswith(_EXPRESSIONS)


def _wrong_plan(simple: str, node: Any, files: bool) -> str:
    if simple == "InsertIntoDir" and files:
        provider = node.provider()
        form = provider.get().lower() if provider.isDefined() else "its format"
        return "" if form in _FORMATS else f"{form} as a format to write"
    if simple not in _PLANS:
        return {"ScriptTransformation": "TRANSFORM … USING"}.get(simple, simple)
    if simple in ("UnresolvedRelation", "UnresolvedTableOrView"):
        name = node.multipartIdentifier()
        first = str(name.head()).lower()
        if name.size() > 1 and not (files and name.size() == 2 and first in _FORMATS):
            return f"the table {name.mkString('.')}"
    if simple == "UnresolvedTableValuedFunction":
        return _not_allowed(node.name())
    return ""


def _wrong_function(simple: str, node: Any) -> str:
    if simple == "UnresolvedFunction":
        return _not_allowed(node.nameParts())
    if simple == "UnresolvedGenerator":
        return _not_allowed(node.name().nameParts())
    return ""


def _not_allowed(parts: Any) -> str:
    name = str(parts.mkString("."))
    return "" if name.lower() in _FUNCTIONS else f"the function {name}"


def _class(node: Any) -> str:
    return str(node.getClass().getName())


def _nodes(found: Any, jvm: Any) -> Iterator[Any]:
    """The nodes of a tree, whatever holds them: lists, pairs, options, other trees."""
    left = [found]
    while left:
        part = left.pop()
        if not hasattr(part, "getClass"):
            continue
        if jvm.isinstance(part, "org.apache.spark.sql.catalyst.trees.TreeNode"):
            yield part
            left += _items(part.productIterator())
        elif jvm.isinstance(part, "org.apache.spark.sql.types.DataType"):
            continue
        elif jvm.isinstance(part, "scala.collection.Iterable"):
            left += _items(part.iterator())
        elif _class(part).startswith(("scala.Tuple", "scala.Some")):
            left += _items(part.productIterator())


def _items(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()
