"""Orca loads this file when it starts. It writes down what Orca says, one line of JSON for each utterance."""

import json
import os

from orca import speech

log = open(os.environ["SPEECH_LOG"], "a", buffering=1, encoding="utf-8")
speak = speech._speak


def write_and_speak(text, acss, interrupt):
    log.write(json.dumps(text) + "\n")
    speak(text, acss, interrupt)


speech._speak = write_and_speak
