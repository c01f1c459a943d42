ID = "order"


def started(book, *tasks):
    for task in tasks:
        book.mark("dequeue", "w1", task)
        book.run(task)


def told(book, order="fifo", **declared):
    book.service(9, tells_dequeue=True, order=order, **declared)


def test_first_in_first_out_holds(book):
    told(book)
    book.submit("t1")
    book.submit("t2")
    started(book, "t1", "t2")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_last_in_first_out_breaks_it(book):
    told(book)
    book.submit("t1")
    book.submit("t2")
    started(book, "t2", "t1")
    assert book.broken(ID) == ["t2 started before t1, which waited and had been submitted before"]


def test_without_a_declared_order_nothing_is_judged(book):
    book.service(9, tells_dequeue=True)
    book.submit("t1")
    book.submit("t2")
    started(book, "t2", "t1")
    assert book.judge(ID).checked == 0


def test_submits_that_overlap_have_no_order(book):
    told(book)
    one = book.begin("submit", "a", "t1")
    two = book.begin("submit", "b", "t2")
    book.end(one, answer="accepted")
    book.end(two, answer="accepted")
    started(book, "t2", "t1")
    assert book.broken(ID) == []


def test_with_one_worker_that_tells_nothing_the_runs_show_the_order(book):
    book.service(9, order="fifo")
    book.submit("t1")
    book.submit("t2")
    book.run("t2")
    book.run("t1")
    assert len(book.broken(ID)) == 1


def test_two_workers_that_tell_nothing_are_not_judged(book):
    book.service(9, 2, order="fifo")
    book.submit("t1")
    book.submit("t2")
    book.run("t2", "s2", "w2")
    book.run("t1")
    assert book.judge(ID).checked == 0


def test_another_class_may_overtake(book):
    told(book)
    book.submit("t1")
    book.submit("t2", **{"class": "other"})
    started(book, "t2", "t1")
    assert book.broken(ID) == []


def test_the_higher_priority_comes_first(book):
    told(book, "priority")
    book.submit("t1", priority=0)
    book.submit("t2", priority=5)
    started(book, "t1", "t2")
    assert book.broken(ID) == ["t1 started before t2, which waited and had the higher priority"]


def test_a_task_that_came_after_the_choice_was_not_passed_over(controlled):
    controlled.service(9, order="priority")
    controlled.submit("t1", priority=0)
    controlled.submit("t2", priority=5)
    controlled.run("t1")
    controlled.run("t2")
    assert controlled.broken(ID) == []


def test_a_worker_that_was_busy_chose_later(controlled):
    controlled.service(9, order="priority")
    controlled.submit("t1")
    controlled.submit("t2", priority=0)
    controlled.submit("t3", priority=5)
    for task in ("t1", "t2", "t3"):
        controlled.run(task)
    assert controlled.broken(ID) == ["t2 started before t3, which waited and had the higher priority"]


def test_equal_priorities_keep_the_order_of_their_coming(book):
    told(book, "priority")
    book.submit("t1", priority=5)
    book.submit("t2", priority=5)
    started(book, "t2", "t1")
    assert len(book.broken(ID)) == 1


def test_a_class_with_a_floor_may_start_before_a_higher_priority(book):
    told(book, "priority")
    book.declare("always-on", floor=50)
    book.submit("t1", priority=0, **{"class": "always-on"})
    book.submit("t2", priority=5)
    started(book, "t1", "t2")
    assert book.broken(ID) == []


def test_the_earliest_deadline_comes_first_and_none_last(book):
    told(book, "earliest-deadline")
    book.submit("t1")
    book.submit("t2", deadline_ms=900)
    book.submit("t3", deadline_ms=300)
    started(book, "t3", "t2", "t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 3


def test_a_later_deadline_that_starts_first_breaks_it(book):
    told(book, "earliest-deadline")
    book.submit("t1", deadline_ms=900)
    book.submit("t2", deadline_ms=300)
    started(book, "t1", "t2")
    assert book.broken(ID) == ["t1 started before t2, which waited and was due earlier"]


def test_deadlines_whose_bounds_overlap_have_no_order(book):
    told(book, "earliest-deadline")
    one = book.begin("submit", "a", "t1", deadline_ms=300)
    book.now_ms = 20
    book.end(one, answer="accepted")
    book.submit("t2", deadline_ms=290)
    started(book, "t1", "t2")
    assert book.broken(ID) == []


def test_equal_requests_that_were_joined_start_with_the_first_of_them(book):
    told(book)
    book.declare(overflow="coalesce")
    book.submit("t1", key=1)
    book.submit("t2")
    book.submit("t3", key=1)
    started(book, "t1")
    book.mark("dequeue", "w1", "t3")
    started(book, "t2")
    assert book.broken(ID) == []


def flood(book, *order):
    told(book, "fair-share")
    book.declare("default")
    book.declare("always-on", floor=34)
    for number in range(4):
        book.submit(f"t{number}")
    book.submit("t9", **{"class": "always-on"})
    started(book, *order)


def test_a_floor_that_is_kept_holds(book):
    flood(book, "t0", "t1", "t9", "t2", "t3")
    assert book.broken(ID) == []


def test_a_class_that_waits_longer_than_its_floor_allows_starves(book):
    flood(book, "t0", "t1", "t2", "t9", "t3")
    assert book.broken(ID) == ["the class always-on waited through 3 starts in a row: its floor is one in 3"]


def test_the_oldest_is_replaced(book):
    told(book, overflow="replace-oldest")
    book.submit("t1")
    book.submit("t2")
    book.submit("t3")
    book.deliver("t2", "REPLACED")
    started(book, "t1", "t3")
    assert book.broken(ID) == ["t2 was REPLACED while t1, which was older, waited"]


def test_one_that_may_have_started_before_was_not_there_to_be_replaced(book):
    told(book, overflow="replace-oldest")
    book.submit("t1")
    book.submit("t2")
    started(book, "t1")
    book.submit("t3")
    book.deliver("t2", "REPLACED")
    assert book.broken(ID) == []


def test_strays_hide_who_started(book):
    book.service(9, order="fifo")
    book.submit("t1")
    book.submit("t2")
    book.run(None)
    book.run("t2")
    book.run("t1")
    assert book.judge(ID).unknown


def fair(book, *starts, weight=400):
    """Seven tasks wait, three of the light class first; they start in this order."""
    told(book, "fair-share")
    for name, percent in (("light", 100), ("heavy", weight)):
        declared = {"class": name, "overflow": "reject", "capacity": -1, "floor_percent": 0, "weight_percent": percent}
        book.mark("request-class", **declared)
    for task in ("l1", "l2", "l3"):
        book.submit(task, **{"class": "light"})
    for task in ("h1", "h2", "h3", "h4"):
        book.submit(task, **{"class": "heavy"})
    started(book, *starts)


def test_starts_by_weight_hold(book):
    fair(book, "l1", "h1", "h2", "h3", "h4", "l2", "l3")
    assert book.broken(ID) == []
    assert book.judge(ID).checked > 0


def test_whole_rounds_in_turn_hold(book):
    fair(book, "h1", "h2", "h3", "h4", "l1", "l2", "l3")
    assert book.broken(ID) == []


def test_starts_in_turn_break_it_where_one_weighs_more(book):
    fair(book, "l1", "h1", "l2", "h2", "h3", "h4", "l3")
    assert book.broken(ID) == [
        "of 3 starts in a row for which both waited, heavy had 1 with weight 4 and light had 2 with weight 1"
    ]


def test_starts_by_arrival_break_it(book):
    fair(book, "l1", "l2", "l3", "h1", "h2", "h3", "h4")
    assert len(book.broken(ID)) == 1


def test_equal_weights_may_differ_by_one_start_of_each(book):
    fair(book, "l1", "l2", "h1", "h2", "l3", "h3", "h4", weight=100)
    assert book.broken(ID) == []


def test_shares_are_not_judged_where_a_class_has_nothing_more_to_start(book):
    fair(book, "h1", "h2", "h3", "h4", "l1", weight=100)
    assert len(book.broken(ID)) == 1, "three starts of one while both wait"


def urgent_joins(book):
    """While t0 runs t3, which is urgent, joins the waiting t1 behind t2; returns the run of t0, still in flight."""
    book.service(9, order="priority", overflow="coalesce")
    book.submit("t0", priority=0)
    busy = book.bind("t0")
    book.submit("t1", key=1, priority=1)
    book.submit("t2", priority=5)
    book.submit("t3", key=1, priority=9)
    return busy


def test_an_urgent_request_that_joined_and_was_passed_over_breaks_it(book):
    busy = urgent_joins(book)
    book.step(busy, "invoke")
    book.step(busy, "fetch")
    book.run("t2")
    book.run("t1")
    book.deliver("t3", output="shared:t1")
    passed_over = ["t2 started before t3, which waited and had the higher priority"]
    assert book.broken(ID) == (passed_over if book.mode == "controlled" else [])


def test_an_urgent_request_that_brings_its_run_forward_holds(book):
    busy = urgent_joins(book)
    book.step(busy, "invoke")
    book.step(busy, "fetch")
    book.run("t1")
    book.run("t2")
    assert book.broken(ID) == []


def test_an_urgent_request_that_joined_and_gave_up_waits_for_nothing(book):
    busy = urgent_joins(book)
    book.cancel("t3")
    book.step(busy, "invoke")
    book.step(busy, "fetch")
    book.run("t2")
    book.run("t1")
    book.deliver("t3", "CANCELLED")
    assert book.broken(ID) == []
