import io

from merlin_cl.runs.progress import Forecast, PlainDisplay, RunProgress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_time_left_follows_what_earlier_tasks_took():
    clock = Clock()
    forecast = Forecast(tasks=4, taken=[], clock=clock)
    assert forecast.left() is None
    clock.now = 10.0
    forecast.end_task()
    forecast.begin_task()
    assert forecast.left() == 30.0  # three tasks of ten seconds
    clock.now = 14.0
    assert forecast.left() == 26.0
    clock.now = 22.0  # this task took twelve seconds: each takes two more than the one before
    forecast.end_task()
    forecast.begin_task()
    assert forecast.left() == 14 + 16
    clock.now = 80.0
    assert forecast.left() == 16.0  # longer than expected, never negative


def test_time_left_is_known_at_once_after_a_resume():
    assert Forecast(tasks=3, taken=[5.0, 5.0], clock=Clock()).left() == 5.0


def test_plain_lines_come_seconds_apart():
    clock, out = Clock(), io.StringIO()
    display = PlainDisplay(out, clock)
    for tenth in range(200):
        clock.now = tenth / 10
        display.update("task 1/5  learn", tenth, 200)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3  # 20 seconds, one every 5
    assert lines[0] == "task 1/5  learn  (25 %)"


def test_every_task_leaves_a_line():
    out = io.StringIO()
    progress = RunProgress(PlainDisplay(out), 5, [])
    progress.begin(1)
    progress.told("vae", 3, 9)
    progress.end("class-incremental 91.0")
    assert out.getvalue() == "task 2/5 done in 0.0 s: class-incremental 91.0\n"


def test_progress_can_be_told_when_no_task_is_left_to_begin():
    out = io.StringIO()
    progress = RunProgress(PlainDisplay(out, iter([0.0, 9.0, 9.0]).__next__), 2, [1.0, 1.0])
    progress.told("probe", 1, 2)
    assert out.getvalue().startswith("task 2/2  probe ")


def test_time_left_is_told_from_the_first_seconds_on():
    clock = Clock()
    forecast = Forecast(tasks=5, taken=[], clock=clock)
    clock.now = 1.0
    forecast.step("learn", 0.25)  # four seconds of learning a task, and answering that takes half as long and grows
    assert forecast.left() == 5 * 4 + 2 * (1 + 2 + 3 + 4 + 5) - 1
    clock.now = 4.0
    forecast.step("learn", 1.0)
    clock.now = 6.0
    forecast.step("evaluate", 1.0)
    forecast.end_task()
    forecast.begin_task()
    assert forecast.left() == 8 + 10 + 12 + 14  # answering took two seconds for one task


def test_what_is_not_answering_grows_only_if_it_has_grown():
    """Models are fitted to the same number of exemplars after every task, which takes minutes, and answer in a second a task."""
    clock = Clock()
    forecast = Forecast(tasks=4, taken=[], clock=clock)
    clock.now = 10.0
    forecast.step("learn", 1.0)
    clock.now = 35.0
    forecast.step("infer", 0.25)
    assert forecast.left() == 4 * (10 + 100) - 35
    clock.now = 110.0
    forecast.step("infer", 1.0)
    clock.now = 111.0
    forecast.step("evaluate", 1.0)
    forecast.end_task()
    forecast.begin_task()
    assert forecast.left() == 112 + 113 + 114

    def learned(fitting, answering):
        for phase, seconds in (("learn", 10), ("infer", fitting), ("evaluate", answering)):
            clock.now += seconds
            forecast.step(phase, 1.0)
        forecast.end_task()
        forecast.begin_task()

    learned(fitting=125, answering=2)
    assert forecast.left() == (137 + 1) + (137 + 2)  # a machine that was busy: only answers grow
    learned(fitting=297, answering=3)
    assert forecast.left() == 310 + (300 - 101) / 2  # fitting clearly grows, too


def test_a_first_task_without_replay_does_not_make_all_others_grow():
    """The second task learns for twice as long as the first; the third and fourth are taken to be like the second."""
    clock = Clock()
    forecast = Forecast(tasks=4, taken=[], clock=clock)
    for learning, answering in ((100.0, 0.5), (200.0, 1.0)):
        clock.now += learning
        forecast.step("learn", 1.0)
        clock.now += answering
        forecast.end_task()
        forecast.begin_task()
    assert forecast.left() == 2 * 200 + 0.5 * (3 + 4)
    clock.now += 60.0
    forecast.step("learn", 0.2)  # and here one sees that it takes longer still
    assert forecast.left() == 2 * 300 + 0.5 * (3 + 4) - 60


def test_a_phase_under_way_is_not_taken_to_be_over():
    clock = Clock()
    forecast = Forecast(tasks=1, taken=[], clock=clock)
    clock.now = 4.0
    forecast.step("learn", 1.0)
    clock.now = 34.0
    forecast.step("infer", 0.25)  # a quarter took half a minute
    assert forecast.left() == 90.0
    assert 0.2 < forecast.share() < 0.3
    clock.now = 124.0
    forecast.step("infer", 1.0)
    assert forecast.left() == 0.0


def test_a_later_task_may_take_longer_than_those_before():
    clock = Clock()
    forecast = Forecast(tasks=2, taken=[5.0], clock=clock)
    clock.now = 20.0
    forecast.step("infer", 0.5)
    assert forecast.left() == 20.0


class Bar:
    def __init__(self):
        self.shares, self.texts = [], []

    def update(self, text, done, total):
        self.texts.append(text)
        self.shares.append(done / total)

    def say(self, text):
        pass


def test_the_bar_is_of_the_whole_run_and_never_goes_back():
    clock, bar = Clock(), Bar()
    progress = RunProgress(bar, 3, [])
    progress.forecast = Forecast(3, [], clock)
    for task in range(3):
        progress.begin(task)
        for step in range(1, 11):
            clock.now += 0.4
            progress.told("learn", step, 10)
        for step in range(1, 6):
            clock.now += 0.3 * (task + 1)
            progress.told("infer", step, 5)
        progress.end("")
    assert bar.shares == sorted(bar.shares)
    ends = [bar.shares[15 * task + 14] for task in range(3)]
    assert ends[0] < 0.4  # no phase fills the bar
    assert ends[2] > 0.98
    assert all("left" in text for text in bar.texts[1:])
