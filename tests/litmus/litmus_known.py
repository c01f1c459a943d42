"""Where the engine is known to fall short: each entry is a defect or a limit, and a test says when it is gone."""

import sys

LOST_BY_REDUCTION = {
    "barriers/asked_twice_whether_it_is_broken": "Barrier.broken reads without a lock, and is not reported",
    "locks/a_release_before_or_after_the_acquire": "a release that is refused is not reported",
    "plain/a_list_compared": "== looks inside a list, and is not reported",
    "plain/a_list_unpacked": "unpacking looks inside a list, and is not reported",
    "plain/a_list_written_to_text": "a text made of a list looks inside it, and is not reported",
    "plain/numbers_from_one_counter": "next() on an iterator that is shared is not reported",
    "plain/an_array_written_while_it_is_read": "arrays are not containers to the instrumentation",
    "plain/a_subclass_of_a_container": "a subclass of a container is not a container to the instrumentation",
}
"""Programs of which the reduced search leaves outcomes out."""

DIFFERS_BY_CARRIER: dict[str, str] = {}
"""Programs that behave differently on the two carriers."""

NOT_UNDER_CONTROL = {
    "barriers/asked_twice_how_many_wait": ("(0, 1)",),
    "barriers/asked_twice_whether_it_is_broken": (
        "(None, ((False, True), (True, True)))",
        "(None, ((False, False), (False, True)))",
    ),
    "clocks/a_clock_goes_on": ("False",),
    "clocks/a_clock_read_between_two": ("1",),
    "futures/as_they_complete": ("(1, 2)",),
    "locks/a_pair_of_locks_with_time_outs": ("()",),
    "locks/a_time_out_is_not_extended_by_a_lock_that_comes_and_goes": ("(False, (True,))",),
    "locks/a_try_against_an_empty_critical_section": ("False",),
    "locks/asked_twice_whether_it_is_locked": ("(False, True)",),
    "queues/a_simple_queue_asked_twice_whether_it_is_empty": ("(True, False)",),
    "threads/a_hook_sees_how_a_thread_dies": ("('KeyError',)",),
}
"""Outcomes of real threads that no search shows, within three preemptions."""

NEVER_REAL = {
    "threads/a_hook_sees_how_a_thread_dies": ("()",),
    "threads/a_started_thread_has_an_identity": ("(True, True)",),
    "threads/a_started_thread_is_counted": ("(False, False)",),
    "threads/a_thread_started_below_threading_has_the_identity_that_its_start_returned": ("False",),
}
"""Outcomes under control that real threads cannot show."""

UNSEEN_STATE = {
    "plain/a_default_made_by_a_read",
    "plain/a_dict_that_grows_while_it_is_walked",
    "plain/a_list_compared",
    "plain/a_list_copied_by_a_slice",
    "plain/a_list_extended_in_place",
    "plain/a_list_sorted_into_a_heap",
    "plain/a_list_unpacked",
    "plain/a_list_walked_while_it_grows",
    "plain/a_list_written_to_text",
    "plain/a_subclass_of_a_container",
    "plain/a_variable_that_only_the_outer_function_stores",
    "plain/an_array_written_while_it_is_read",
    "plain/an_attribute_by_its_name",
    "plain/an_attribute_of_the_class",
    "plain/an_attribute_set_to_a_loop_s_variable",
    "plain/an_ordered_dict_that_is_reordered",
    "plain/numbers_from_one_counter",
}
"""Programs that share state which the instrumentation does not see: real threads may show more than control does."""

if sys.version_info < (3, 13):  # where is_alive asserts what start has not done yet
    RACE = "threads/asked_whether_it_is_alive_while_it_is_started"
    LOST_BY_REDUCTION[RACE] = "start stores what is_alive reads, and does not report it"
    NEVER_REAL[RACE] = ("nothing",)
