"""A bounded memory of examples, filled from the stream as it passes."""

from collections import Counter
from typing import Any

import torch
from torch import Tensor

from merlin_cl.learners.means import Choice
from merlin_cl.learners.memory.choice import Group, criterion


class ExemplarMemory:
    """At most `budget` examples, kept in the form in which they arrived (bytes stay bytes).

    `random` is reservoir sampling: at any time every example seen so far is held with the same probability. `balanced` is the
    class-balanced reservoir of Chrysakis and Moens (2020): a newcomer of a group that is not the largest takes the place of
    a random member of the largest; within the largest groups, reservoir sampling. `herding`, `k-centre` and `gradient` are
    balanced in the same way, but a criterion says who goes (`exemplar_choice.py`). A group is a class of a task, so
    that domains which share their labels are balanced too. A method may keep notes, K numbers, beside each exemplar.
    """

    def __init__(
        self,
        budget: int,
        choice: Choice,
        input_shape: tuple[int, ...],
        generator: torch.Generator,
        device: torch.device | None = None,
    ) -> None:
        self.budget = budget
        self.choice = choice
        self._generator = generator
        # [n, *input_shape], n <= budget; the dtype of what arrives
        self._x = torch.zeros(0, *input_shape, device=device)
        self._notes: Tensor | None = None  # [n, K]
        self._labels: list[int] = []
        self._tasks: list[int] = []
        self._held: dict[Group, int] = {}  # exemplars of each group
        self._label_tensor: Tensor | None = None  # `_labels` and `_tasks` as tensors, made when asked for
        self._task_tensor: Tensor | None = None
        self._seen: dict[Group, int] = {}  # examples of each group that have passed
        self._criterion = criterion(choice, input_shape, generator.initial_seed())
        self._features: dict[
            int, Tensor
        ] = {}  # what the criterion sees, [F], of exemplars that it was asked about, by place

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def x(self) -> Tensor:
        """Inputs, [n, *input_shape]."""
        return self._x

    @property
    def y(self) -> Tensor:
        """Labels, int64 [n]."""
        if self._label_tensor is None:
            self._label_tensor = torch.tensor(self._labels, dtype=torch.int64, device=self._x.device)
        return self._label_tensor

    @property
    def tasks(self) -> Tensor:
        """The task each exemplar came with, int64 [n]."""
        if self._task_tensor is None:
            self._task_tensor = torch.tensor(self._tasks, dtype=torch.int64, device=self._x.device)
        return self._task_tensor

    @property
    def notes(self) -> Tensor:
        """What was noted beside each exemplar, [n, K]; [0, 0] before the first."""
        return torch.zeros(0, 0, device=self._x.device) if self._notes is None else self._notes

    def of_task(self, task: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels of one task's exemplars."""
        return self._where(self.tasks == task)

    def before_task(self, task: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels of the exemplars of all earlier tasks."""
        return self._where(self.tasks < task)

    def _where(self, mask: Tensor) -> tuple[Tensor, Tensor]:
        return self._x[mask], self.y[mask]

    @property
    def stored_bytes(self) -> int:
        """Inputs, a byte each for label and task, notes, and what the choice rests on."""
        noted = 0 if self._criterion is None else self._criterion.stored_bytes
        return self._x.numel() * self._x.element_size() + 2 * len(self) + 4 * self.notes.numel() + noted

    def offer(self, x: Tensor, y: Tensor, task: int, notes: Tensor | None = None) -> None:
        """Show the memory examples of a task as they pass, perhaps with notes [N, K]. Tasks come one after the other."""
        self._order_before(task)
        for at, (example, label) in enumerate(zip(x, y.tolist(), strict=True)):
            group = (task, label)
            self._seen[group] = self._seen.get(group, 0) + 1
            if self._criterion is not None:
                self._criterion.note(group, example, self._seen[group])
            place = self._place(example, group)
            if place is not None:
                self.put(place, example, label, task, None if notes is None else notes[at])

    def _order_before(self, task: int) -> None:
        """Put the exemplars of earlier tasks in the order in which they are to go, where this saves what the choice rests on."""
        if self._criterion is None or all(group[0] == task for group in self._criterion.unsettled):
            return
        order = list(range(len(self)))
        for group in self._criterion.unsettled:
            places = self._places(group)
            by_stay = self._criterion.final_order(group, self._candidates(places))
            for place, at in zip(places, by_stay, strict=True):
                order[place] = places[at]
        self.keep(order)

    def put(self, place: int, example: Tensor, label: int, task: int, note: Tensor | None = None) -> None:
        """Hold an example at a place, that of an exemplar or the next free one, with a note [K] if others have one."""
        assert place < self.budget, place
        self._features.pop(place, None)
        if place == len(self):
            self._x = torch.cat([self._x.to(example), example.unsqueeze(0)])
            self._labels.append(label)
            self._tasks.append(task)
            self._count((task, label), 1)
            if note is not None:
                note = note.unsqueeze(0)
                self._notes = note.clone() if self._notes is None else torch.cat([self._notes, note])
        else:
            self._x[place] = example
            self._count((self._tasks[place], self._labels[place]), -1)
            self._count((task, label), 1)
            self._labels[place], self._tasks[place] = label, task
            if note is not None and self._notes is not None:
                self._notes[place] = note

    def keep(self, places: list[int]) -> None:
        """Give up all exemplars but those at some places, which move to the front in this order."""
        self._x = self._x[places]
        self._features.clear()
        self._notes = None if self._notes is None else self._notes[places]
        self._labels, self._tasks = ([values[place] for place in places] for values in (self._labels, self._tasks))
        self._count_all()

    def _count(self, group: Group, more: int) -> None:
        """So many more exemplars of a group are held."""
        self._held[group] = self._held.get(group, 0) + more
        self._label_tensor = self._task_tensor = None

    def _count_all(self) -> None:
        """Count what is held anew."""
        self._held = dict(Counter(zip(self._tasks, self._labels, strict=True)))
        self._label_tensor = self._task_tensor = None

    def _place(self, example: Tensor, group: Group) -> int | None:
        """Where a newcomer goes: a free place, that of the exemplar it replaces, or nowhere."""
        if len(self) < self.budget:
            return len(self)
        if self.budget == 0:
            return None
        if self.choice == "random":
            place = self._draw(sum(self._seen.values()))
            return place if place < self.budget else None
        most = max(self._held.values())
        if self._held.get(group) == most:
            return self._leaver(group, example)
        order = dict.fromkeys(zip(self._tasks, self._labels, strict=True))
        largest = [held for held in order if self._held[held] == most]
        return self._leaver(largest[self._draw(len(largest))], newcomer=None)

    def _leaver(self, group: Group, newcomer: Tensor | None) -> int | None:
        """Whose place of a group's becomes free; None if a newcomer of the same group is the one to go."""
        count = self._held[group]
        if self._criterion is None:
            at = self._draw(count if newcomer is None else self._seen[group])
            return self._places(group)[at] if at < count else None
        places = self._places(group)
        candidates = self._candidates(places)
        if newcomer is not None:
            candidates = torch.cat([candidates, self._criterion.features(newcomer).unsqueeze(0)])
        at = self._criterion.leaver(group, candidates)
        return places[at] if at < count else None

    def _places(self, group: Group) -> list[int]:
        """Where the exemplars of a group are."""
        held = zip(self._tasks, self._labels, strict=True)
        return [place for place, other in enumerate(held) if other == group]

    def _candidates(self, places: list[int]) -> Tensor:
        """What the criterion sees of the exemplars at some places, [n, F]."""
        assert self._criterion is not None
        for place in places:
            if place not in self._features:
                self._features[place] = self._criterion.features(self._x[place])
        features = [self._features[place] for place in places]
        return torch.stack(features) if features else torch.zeros(0, self._criterion.width, device=self._x.device)

    def _draw(self, below: int) -> int:
        return int(torch.randint(below, (), generator=self._generator))

    def state(self) -> dict[str, Any]:
        """Everything, random state included."""
        return {
            "x": self._x.clone(),
            "labels": list(self._labels),
            "tasks": list(self._tasks),
            "seen": [[*group, count] for group, count in self._seen.items()],
            "generator": self._generator.get_state(),
            **({} if self._notes is None else {"notes": self._notes.clone()}),
            **({} if self._criterion is None else {"criterion": self._criterion.state()}),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave."""
        self._x = state["x"].clone()
        self._notes = state["notes"].clone() if "notes" in state else None
        self._labels = list(state["labels"])
        self._tasks = list(state["tasks"])
        self._count_all()
        self._seen = {(task, label): count for task, label, count in state["seen"]}
        self._generator.set_state(state["generator"])
        self._features.clear()
        self._criterion = criterion(self.choice, tuple(self._x.shape[1:]), self._generator.initial_seed())
        if self._criterion is not None:
            self._criterion.restore(state["criterion"])
