BEGIN TRANSACTION;
CREATE TABLE batch_claims (
	batch_id VARCHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	speaker TEXT, 
	date VARCHAR(10), 
	run_id VARCHAR(32), 
	problem TEXT, 
	PRIMARY KEY (batch_id, number), 
	FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
);
CREATE TABLE batches (
	id VARCHAR(32) NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	title TEXT NOT NULL, 
	options JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	deleted_at DATETIME, 
	source JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE events (
	run_id VARCHAR(32) NOT NULL, 
	seq INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	version INTEGER NOT NULL, 
	body JSON NOT NULL, 
	PRIMARY KEY (run_id, seq), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "events" VALUES('enough',1,'2026-11-28 09:34:58.336000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('enough',2,'2026-11-28 09:34:58.336000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',3,'2026-11-28 09:34:58.348311','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',4,'2026-11-28 09:34:58.349403','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',5,'2026-11-28 09:34:58.349764','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',6,'2026-11-28 09:34:58.352927','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('enough',7,'2026-11-28 09:34:58.353273','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',8,'2026-11-28 09:34:58.353525','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',9,'2026-11-28 09:34:58.353806','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('enough',10,'2026-11-28 09:34:58.355545','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('enough',11,'2026-11-28 09:35:00.114599','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('enough',12,'2026-11-28 09:35:00.116624','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',13,'2026-11-28 09:35:00.117259','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',14,'2026-11-28 09:35:00.117617','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('enough',15,'2026-11-28 09:35:00.117882','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',16,'2026-11-28 09:35:00.118192','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',17,'2026-11-28 09:35:00.118446','question_asked',1,'{"hop": 2, "question": {"text": "Is Hamlet a play?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('enough',18,'2026-11-28 09:35:00.118653','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',19,'2026-11-28 09:35:00.118850','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',20,'2026-11-28 09:35:00.119072','answer_found',1,'{"hop": 2, "answer": {"text": null, "cited": null, "retrieved": [{"text": "Some say nothing.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('enough',21,'2026-11-28 09:35:00.119341','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('enough',22,'2026-11-28 09:35:00.119539','hop_set_aside',1,'{"hop": 2, "reason": "No passage answers this question.", "kind": "hop_set_aside"}');
INSERT INTO "events" VALUES('enough',23,'2026-11-28 09:35:00.119766','phase_entered',1,'{"phase": "question 3", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',24,'2026-11-28 09:35:00.119947','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',25,'2026-11-28 09:35:00.120163','question_asked',1,'{"hop": 3, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('enough',26,'2026-11-28 09:35:00.125163','phase_entered',1,'{"phase": "answer 3", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',27,'2026-11-28 09:35:00.125449','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',28,'2026-11-28 09:35:00.125718','answer_found',1,'{"hop": 3, "answer": {"text": "England", "cited": {"passage": {"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 35, "end": 42}, "retrieved": [{"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('enough',29,'2026-11-28 09:35:00.126077','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('enough',30,'2026-11-28 09:35:00.127179','hop_kept',1,'{"hop": 3, "reason": "It answers a question about William Shakespeare, from hop 1.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('enough',31,'2026-11-28 09:35:00.127463','phase_entered',1,'{"phase": "sufficiency 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',32,'2026-11-28 09:35:00.127666','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',33,'2026-11-28 09:35:00.127901','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('enough',34,'2026-11-28 09:35:00.128106','phase_entered',1,'{"phase": "question 4", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',35,'2026-11-28 09:35:00.128287','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',36,'2026-11-28 09:35:00.128501','question_asked',1,'{"hop": 4, "question": {"text": "Who first printed Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('enough',37,'2026-11-28 09:35:00.128688','phase_entered',1,'{"phase": "answer 4", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',38,'2026-11-28 09:35:00.128879','hop_failed',1,'{"hop": 4, "module": "answerer", "message": "The provider did not answer in 15 s.", "kind": "hop_failed"}');
INSERT INTO "events" VALUES('enough',39,'2026-11-28 09:35:00.138589','phase_entered',1,'{"phase": "question 5", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',40,'2026-11-28 09:35:00.138950','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',41,'2026-11-28 09:35:00.139234','question_asked',1,'{"hop": 5, "question": {"text": "In which country was William Shakespeare born and raised?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('enough',42,'2026-11-28 09:35:00.139451','phase_entered',1,'{"phase": "answer 5", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('enough',43,'2026-11-28 09:35:00.139635','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('enough',44,'2026-11-28 09:35:00.139852','answer_found',1,'{"hop": 5, "answer": {"text": "England", "cited": {"passage": {"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 35, "end": 42}, "retrieved": [{"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('enough',45,'2026-11-28 09:35:00.140104','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('enough',46,'2026-11-28 09:35:00.140649','hop_set_aside',1,'{"hop": 5, "reason": "Hop 3 already asked this.", "kind": "hop_set_aside"}');
INSERT INTO "events" VALUES('enough',47,'2026-11-28 09:35:00.140882','questioning_ended',1,'{"reason": "The limit of 5 hops was reached.", "early": false, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('enough',48,'2026-11-28 09:35:00.148930','verdict_reached',1,'{"verdict": {"label": "SUPPORTED", "rationale": [{"text": "Hamlet: \u201cHamlet is a play by William Shakespeare.\u201d", "hops": [1]}, {"text": "William Shakespeare: \u201cShakespeare was born in Stratford, England.\u201d", "hops": [3]}, {"text": "This supports the claim.", "hops": [1, 3]}], "missing": null, "confidence": 0.9}, "kind": "verdict_reached"}');
INSERT INTO "events" VALUES('pursuit-decided',1,'2026-11-28 09:35:00.254000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "evidence-pursuit", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('pursuit-decided',2,'2026-11-28 09:35:00.254000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('pursuit-decided',3,'2026-11-28 09:35:00.261928','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('pursuit-decided',4,'2026-11-28 09:35:00.262432','question_asked',1,'{"hop": 1, "question": {"text": "First?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('pursuit-decided',5,'2026-11-28 09:35:00.262699','answer_found',1,'{"hop": 1, "answer": {"text": "answer to First?", "cited": {"passage": {"text": "Some say answer to First?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 9, "end": 25}, "retrieved": [{"text": "Some say answer to First?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('pursuit-decided',6,'2026-11-28 09:35:00.262973','hop_kept',1,'{"hop": 1, "reason": "The question has an answer.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('pursuit-decided',7,'2026-11-28 09:35:00.263238','question_asked',1,'{"hop": 2, "question": {"text": "Second?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('pursuit-decided',8,'2026-11-28 09:35:00.263445','answer_found',1,'{"hop": 2, "answer": {"text": "answer to Second?", "cited": {"passage": {"text": "Some say answer to Second?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 9, "end": 26}, "retrieved": [{"text": "Some say answer to Second?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('pursuit-decided',9,'2026-11-28 09:35:00.264140','hop_kept',1,'{"hop": 2, "reason": "The question has an answer.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('pursuit-decided',10,'2026-11-28 09:35:00.264421','sufficiency_judged',1,'{"judgement": {"holds": true, "reason": "The questioner holds that the answers show the claim to be false.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('pursuit-decided',11,'2026-11-28 09:35:00.264673','question_asked',1,'{"hop": 3, "question": {"text": "First, 1?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('pursuit-decided',12,'2026-11-28 09:35:00.264885','answer_found',1,'{"hop": 3, "answer": {"text": "answer to First, 1?", "cited": {"passage": {"text": "Some say answer to First, 1?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 9, "end": 28}, "retrieved": [{"text": "Some say answer to First, 1?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('pursuit-decided',13,'2026-11-28 09:35:00.265302','hop_kept',1,'{"hop": 3, "reason": "The question of hop 1, in other words.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('pursuit-decided',14,'2026-11-28 09:35:00.265553','questioning_ended',1,'{"reason": "The questioner holds that the answers show the claim to be false.", "early": false, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('pursuit-decided',15,'2026-11-28 09:35:00.266157','verdict_reached',1,'{"verdict": {"label": "REFUTED", "rationale": [{"text": "First? answer to First?", "hops": [1]}, {"text": "Second? answer to Second?", "hops": [2]}, {"text": "The questioner holds that the answers show the claim to be false.", "hops": [1, 2]}], "missing": null, "confidence": null}, "kind": "verdict_reached"}');
INSERT INTO "events" VALUES('asked-by-owner',1,'2026-11-28 09:35:00.274000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('asked-by-owner',2,'2026-11-28 09:35:00.274000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',3,'2026-11-28 09:35:00.279819','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',4,'2026-11-28 09:35:00.280300','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',5,'2026-11-28 09:35:00.280537','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('asked-by-owner',6,'2026-11-28 09:35:00.280915','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('asked-by-owner',7,'2026-11-28 09:35:00.281144','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',8,'2026-11-28 09:35:00.283317','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('asked-by-owner',9,'2026-11-28 09:35:00.283659','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('asked-by-owner',10,'2026-11-28 09:35:00.283961','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('asked-by-owner',11,'2026-11-28 09:35:00.284320','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('asked-by-owner',12,'2026-11-28 09:35:00.284563','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',13,'2026-11-28 09:35:00.284755','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('asked-by-owner',14,'2026-11-28 09:35:00.285108','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('asked-by-owner',15,'2026-11-28 09:35:00.286135','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',16,'2026-11-28 09:35:00.286349','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('asked-by-owner',17,'2026-11-28 09:35:00.286618','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('asked-by-owner',18,'2026-11-28 09:35:00.286829','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('asked-by-owner',19,'2026-11-28 09:35:00.288828','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('asked-by-owner',20,'2026-11-28 09:35:00.293255','answer_found',1,'{"hop": 2, "answer": {"text": "England", "cited": {"passage": {"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 35, "end": 42}, "retrieved": [{"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('asked-by-owner',21,'2026-11-28 09:35:00.293662','hop_interrupted',1,'{"hop": 2, "reason": "The check had to conclude before this hop was done.", "kind": "hop_interrupted"}');
INSERT INTO "events" VALUES('asked-by-owner',22,'2026-11-28 09:35:00.293900','questioning_ended',1,'{"reason": "Its owner asked for a conclusion from what was there.", "early": true, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('asked-by-owner',23,'2026-11-28 09:35:00.294578','verdict_reached',1,'{"verdict": {"label": "SUPPORTED", "rationale": [{"text": "Hamlet: \u201cHamlet is a play by William Shakespeare.\u201d", "hops": [1]}, {"text": "This supports the claim.", "hops": [1]}], "missing": null, "confidence": 0.59}, "kind": "verdict_reached"}');
INSERT INTO "events" VALUES('limit',1,'2026-11-28 09:35:00.299000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('limit',2,'2026-11-28 09:35:00.299000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',3,'2026-11-28 09:35:00.306125','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',4,'2026-11-28 09:35:00.306629','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',5,'2026-11-28 09:35:00.306926','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('limit',6,'2026-11-28 09:35:00.313459','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('limit',7,'2026-11-28 09:35:00.313763','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',8,'2026-11-28 09:35:00.313988','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('limit',9,'2026-11-28 09:35:00.314234','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('limit',10,'2026-11-28 09:35:00.314629','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('limit',11,'2026-11-28 09:35:00.315087','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('limit',12,'2026-11-28 09:35:00.315447','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',13,'2026-11-28 09:35:00.315688','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('limit',14,'2026-11-28 09:35:00.316427','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('limit',15,'2026-11-28 09:35:00.316679','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',16,'2026-11-28 09:35:00.316883','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('limit',17,'2026-11-28 09:35:00.317109','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('limit',18,'2026-11-28 09:35:00.317302','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('limit',19,'2026-11-28 09:35:00.317471','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('limit',20,'2026-11-28 09:35:00.317688','answer_found',1,'{"hop": 2, "answer": {"text": "England", "cited": {"passage": {"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 35, "end": 42}, "retrieved": [{"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('limit',21,'2026-11-28 09:35:00.317930','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('limit',22,'2026-11-28 09:35:00.318289','hop_kept',1,'{"hop": 2, "reason": "It answers a question about William Shakespeare, from hop 1.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('limit',23,'2026-11-28 09:35:00.318500','questioning_ended',1,'{"reason": "The limit of 4 calls for one check was reached.", "early": true, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('limit',24,'2026-11-28 09:35:00.319361','verdict_reached',1,'{"verdict": {"label": "SUPPORTED", "rationale": [{"text": "Hamlet: \u201cHamlet is a play by William Shakespeare.\u201d", "hops": [1]}, {"text": "William Shakespeare: \u201cShakespeare was born in Stratford, England.\u201d", "hops": [2]}, {"text": "This supports the claim.", "hops": [1, 2]}], "missing": null, "confidence": 0.59}, "kind": "verdict_reached"}');
INSERT INTO "events" VALUES('no-verdict',1,'2026-11-28 09:35:00.328000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('no-verdict',2,'2026-11-28 09:35:00.328000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',3,'2026-11-28 09:35:00.331701','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',4,'2026-11-28 09:35:00.332123','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',5,'2026-11-28 09:35:00.332339','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('no-verdict',6,'2026-11-28 09:35:00.332602','question_asked',1,'{"hop": 1, "question": {"text": "Who first printed Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('no-verdict',7,'2026-11-28 09:35:00.332796','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',8,'2026-11-28 09:35:00.332980','hop_failed',1,'{"hop": 1, "module": "answerer", "message": "The provider did not answer in 15 s.", "kind": "hop_failed"}');
INSERT INTO "events" VALUES('no-verdict',9,'2026-11-28 09:35:00.333401','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',10,'2026-11-28 09:35:00.333695','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('no-verdict',11,'2026-11-28 09:35:00.337429','question_asked',1,'{"hop": 2, "question": {"text": "Who first printed Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('no-verdict',12,'2026-11-28 09:35:00.337770','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('no-verdict',13,'2026-11-28 09:35:00.337990','hop_failed',1,'{"hop": 2, "module": "answerer", "message": "The provider did not answer in 15 s.", "kind": "hop_failed"}');
INSERT INTO "events" VALUES('no-verdict',14,'2026-11-28 09:35:00.338383','questioning_ended',1,'{"reason": "2 hops in a row brought nothing.", "early": false, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('no-verdict',15,'2026-11-28 09:35:00.339723','run_failed',1,'{"message": "Every question failed before it had an answer; the hops say why.", "kind": "run_failed"}');
INSERT INTO "events" VALUES('left-out',1,'2026-11-28 09:35:00.349000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('left-out',2,'2026-11-28 09:35:00.349000','run_branched',1,'{"branch": {"parent": "enough", "hop": 2, "question": null}, "kind": "run_branched"}');
INSERT INTO "events" VALUES('left-out',3,'2026-11-28 09:35:00.349000','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('left-out',4,'2026-11-28 09:35:00.349000','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('left-out',5,'2026-11-28 09:35:00.349000','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('left-out',6,'2026-11-28 09:35:00.349000','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('left-out',7,'2026-11-28 09:35:00.349000','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('left-out',8,'2026-11-28 09:35:00.349000','question_asked',1,'{"hop": 2, "question": {"text": "Is Hamlet a play?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('left-out',9,'2026-11-28 09:35:00.349000','answer_found',1,'{"hop": 2, "answer": {"text": null, "cited": null, "retrieved": [{"text": "Some say nothing.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('left-out',10,'2026-11-28 09:35:00.349000','hop_set_aside',1,'{"hop": 2, "reason": "Its owner left it out.", "kind": "hop_set_aside"}');
INSERT INTO "events" VALUES('left-out',11,'2026-11-28 09:35:00.349000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',12,'2026-11-28 09:35:00.353640','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',13,'2026-11-28 09:35:00.354133','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',14,'2026-11-28 09:35:00.354367','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',15,'2026-11-28 09:35:00.354629','question_asked',1,'{"hop": 3, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('left-out',16,'2026-11-28 09:35:00.354828','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',17,'2026-11-28 09:35:00.355144','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',18,'2026-11-28 09:35:00.355386','answer_found',1,'{"hop": 3, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('left-out',19,'2026-11-28 09:35:00.355650','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('left-out',20,'2026-11-28 09:35:00.355940','hop_set_aside',1,'{"hop": 3, "reason": "Hop 1 already asked this.", "kind": "hop_set_aside"}');
INSERT INTO "events" VALUES('left-out',21,'2026-11-28 09:35:00.356238','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',22,'2026-11-28 09:35:00.356437','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',23,'2026-11-28 09:35:00.356658','question_asked',1,'{"hop": 4, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('left-out',24,'2026-11-28 09:35:00.356837','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',25,'2026-11-28 09:35:00.357004','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',26,'2026-11-28 09:35:00.357854','answer_found',1,'{"hop": 4, "answer": {"text": "England", "cited": {"passage": {"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 35, "end": 42}, "retrieved": [{"text": "Shakespeare was born in Stratford, England.", "title": "William Shakespeare", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/William_Shakespeare", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('left-out',27,'2026-11-28 09:35:00.358122','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('left-out',28,'2026-11-28 09:35:00.358527','hop_kept',1,'{"hop": 4, "reason": "It answers a question about William Shakespeare, from hop 1.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('left-out',29,'2026-11-28 09:35:00.358770','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',30,'2026-11-28 09:35:00.358957','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',31,'2026-11-28 09:35:00.359183','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('left-out',32,'2026-11-28 09:35:00.359433','phase_entered',1,'{"phase": "question 3", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('left-out',33,'2026-11-28 09:35:00.359632','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('left-out',34,'2026-11-28 09:35:00.359868','questioning_ended',1,'{"reason": "There was nothing left to ask.", "early": false, "kind": "questioning_ended"}');
INSERT INTO "events" VALUES('left-out',35,'2026-11-28 09:35:00.360594','verdict_reached',1,'{"verdict": {"label": "SUPPORTED", "rationale": [{"text": "Hamlet: \u201cHamlet is a play by William Shakespeare.\u201d", "hops": [1]}, {"text": "William Shakespeare: \u201cShakespeare was born in Stratford, England.\u201d", "hops": [4]}, {"text": "This supports the claim.", "hops": [1, 4]}], "missing": null, "confidence": 0.9}, "kind": "verdict_reached"}');
INSERT INTO "events" VALUES('stopped',1,'2026-11-28 09:35:00.371000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('stopped',2,'2026-11-28 09:35:00.371000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',3,'2026-11-28 09:35:00.373844','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',4,'2026-11-28 09:35:00.374339','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',5,'2026-11-28 09:35:00.374578','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('stopped',6,'2026-11-28 09:35:00.374982','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('stopped',7,'2026-11-28 09:35:00.375323','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',8,'2026-11-28 09:35:00.375581','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('stopped',9,'2026-11-28 09:35:00.375932','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('stopped',10,'2026-11-28 09:35:00.376266','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('stopped',11,'2026-11-28 09:35:00.376764','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('stopped',12,'2026-11-28 09:35:00.377017','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',13,'2026-11-28 09:35:00.377199','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('stopped',14,'2026-11-28 09:35:00.377425','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('stopped',15,'2026-11-28 09:35:00.377620','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',16,'2026-11-28 09:35:00.377805','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('stopped',17,'2026-11-28 09:35:00.378025','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('stopped',18,'2026-11-28 09:35:00.378208','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('stopped',19,'2026-11-28 09:35:00.390531','run_interrupted',1,'{"message": "Stopped by its owner.", "kind": "run_interrupted"}');
INSERT INTO "events" VALUES('waiting',1,'2026-11-28 09:35:00.397000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('waiting',2,'2026-11-28 09:35:00.397000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-decided',1,'2026-11-28 09:35:00.405000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "evidence-pursuit", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('cut-off-decided',2,'2026-11-28 09:35:00.405000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-decided',3,'2026-11-28 09:35:00.410179','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-decided',4,'2026-11-28 09:35:00.410698','question_asked',1,'{"hop": 1, "question": {"text": "First?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-decided',5,'2026-11-28 09:35:00.411030','answer_found',1,'{"hop": 1, "answer": {"text": "answer to First?", "cited": {"passage": {"text": "Some say answer to First?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 9, "end": 25}, "retrieved": [{"text": "Some say answer to First?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('cut-off-decided',6,'2026-11-28 09:35:00.411340','hop_kept',1,'{"hop": 1, "reason": "The question has an answer.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('cut-off-decided',7,'2026-11-28 09:35:00.411607','question_asked',1,'{"hop": 2, "question": {"text": "Second?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-decided',8,'2026-11-28 09:35:00.411821','answer_found',1,'{"hop": 2, "answer": {"text": "answer to Second?", "cited": {"passage": {"text": "Some say answer to Second?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 9, "end": 26}, "retrieved": [{"text": "Some say answer to Second?.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('cut-off-decided',9,'2026-11-28 09:35:00.412057','hop_kept',1,'{"hop": 2, "reason": "The question has an answer.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('cut-off-decided',10,'2026-11-28 09:35:00.412299','sufficiency_judged',1,'{"judgement": {"holds": true, "reason": "The questioner holds that the answers show the claim to be true.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('cut-off-for-good',1,'2026-11-28 09:35:00.427000','run_started',1,'{"claim": {"text": "The author of Hamlet was born in England.", "speaker": null, "date": null}, "options": {"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}, "kind": "run_started"}');
INSERT INTO "events" VALUES('cut-off-for-good',2,'2026-11-28 09:35:00.427000','phase_entered',1,'{"phase": "waiting for its turn", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',3,'2026-11-28 09:35:00.433836','phase_entered',1,'{"phase": "starting", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',4,'2026-11-28 09:35:00.434256','phase_entered',1,'{"phase": "question 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',5,'2026-11-28 09:35:00.434493','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',6,'2026-11-28 09:35:00.434847','question_asked',1,'{"hop": 1, "question": {"text": "Who wrote Hamlet?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-for-good',7,'2026-11-28 09:35:00.435069','phase_entered',1,'{"phase": "answer 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',8,'2026-11-28 09:35:00.435252','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',9,'2026-11-28 09:35:00.435478','answer_found',1,'{"hop": 1, "answer": {"text": "William Shakespeare", "cited": {"passage": {"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, "start": 20, "end": 39}, "retrieved": [{"text": "Hamlet is a play by William Shakespeare.", "title": "Hamlet", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Hamlet", "published": null, "origin": "corpus", "score": 7.5, "described": 0}, {"text": "Nothing of use stands here.", "title": "Denmark", "source": "Vital articles, CC BY-SA 4.0", "url": "https://en.wikipedia.org/wiki/Denmark", "published": null, "origin": "corpus", "score": 7.5, "described": 0}], "answerer": "retriever-reader", "score": 0.9}, "kind": "answer_found"}');
INSERT INTO "events" VALUES('cut-off-for-good',10,'2026-11-28 09:35:00.435717','trouble_met',1,'{"message": "One page could not be read.", "kind": "trouble_met"}');
INSERT INTO "events" VALUES('cut-off-for-good',11,'2026-11-28 09:35:00.436039','hop_kept',1,'{"hop": 1, "reason": "It answers a question about the claim.", "kind": "hop_kept"}');
INSERT INTO "events" VALUES('cut-off-for-good',12,'2026-11-28 09:35:00.436264','phase_entered',1,'{"phase": "sufficiency 1", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',13,'2026-11-28 09:35:00.436458','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',14,'2026-11-28 09:35:00.436672','sufficiency_judged',1,'{"judgement": {"holds": false, "reason": "More is needed.", "confidence": null}, "kind": "sufficiency_judged"}');
INSERT INTO "events" VALUES('cut-off-for-good',15,'2026-11-28 09:35:00.436865','phase_entered',1,'{"phase": "question 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',16,'2026-11-28 09:35:00.439894','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',17,'2026-11-28 09:35:00.440198','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-for-good',18,'2026-11-28 09:35:00.440403','phase_entered',1,'{"phase": "answer 2", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',19,'2026-11-28 09:35:00.444037','run_resumed',1,'{"reason": "The check was cut off.", "kind": "run_resumed"}');
INSERT INTO "events" VALUES('cut-off-for-good',20,'2026-11-28 09:35:00.444525','phase_entered',1,'{"phase": "question 3", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',21,'2026-11-28 09:35:00.444924','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',22,'2026-11-28 09:35:00.445203','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-for-good',23,'2026-11-28 09:35:00.445401','phase_entered',1,'{"phase": "answer 3", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',24,'2026-11-28 09:35:00.449104','run_resumed',1,'{"reason": "The check was cut off.", "kind": "run_resumed"}');
INSERT INTO "events" VALUES('cut-off-for-good',25,'2026-11-28 09:35:00.449611','phase_entered',1,'{"phase": "question 4", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',26,'2026-11-28 09:35:00.449834','tokens_used',1,'{"usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": null}, "kind": "tokens_used"}');
INSERT INTO "events" VALUES('cut-off-for-good',27,'2026-11-28 09:35:00.450219','question_asked',1,'{"hop": 2, "question": {"text": "Where was William Shakespeare born?"}, "kind": "question_asked"}');
INSERT INTO "events" VALUES('cut-off-for-good',28,'2026-11-28 09:35:00.450528','phase_entered',1,'{"phase": "answer 4", "kind": "phase_entered"}');
INSERT INTO "events" VALUES('cut-off-for-good',29,'2026-11-28 09:35:00.455814','run_interrupted',1,'{"message": "The check was cut off 3 times and is not taken up again.", "kind": "run_interrupted"}');
CREATE TABLE model_calls (
	scope VARCHAR(32) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	reply JSON NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	used_at DATETIME NOT NULL, 
	PRIMARY KEY (scope, "key")
);
CREATE TABLE notes (
	run_id VARCHAR(32) NOT NULL, 
	hop INTEGER NOT NULL, 
	agrees BOOLEAN, 
	text TEXT NOT NULL, 
	written_at DATETIME NOT NULL, 
	label VARCHAR(32), 
	signed TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (run_id, hop), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_calls (
	run_id VARCHAR(32) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	PRIMARY KEY (run_id, "key"), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE runs (
	id VARCHAR(32) NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	claim TEXT NOT NULL, 
	options JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	label VARCHAR(32), 
	ended_at DATETIME, 
	last_seq INTEGER NOT NULL, 
	epoch INTEGER DEFAULT '0' NOT NULL, 
	holder VARCHAR(64), 
	leased_until DATETIME, 
	cut_offs INTEGER DEFAULT '0' NOT NULL, 
	began_at DATETIME, 
	wish VARCHAR(16), 
	parent VARCHAR(32), 
	batch VARCHAR(32), 
	deleted_at DATETIME, 
	published_at DATETIME, 
	taken_down_at DATETIME, 
	imported BOOLEAN DEFAULT 0 NOT NULL, 
	searched TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('enough','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:34:58.336000','verdict','SUPPORTED','2026-11-28 09:35:00.153000',48,1,NULL,NULL,0,'2026-11-28 09:34:58.345000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('pursuit-decided','me','The author of Hamlet was born in England.','{"strategy": "evidence-pursuit", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.254000','verdict','REFUTED','2026-11-28 09:35:00.267000',15,1,NULL,NULL,0,'2026-11-28 09:35:00.261000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('asked-by-owner','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.274000','verdict','SUPPORTED','2026-11-28 09:35:00.295000',23,1,NULL,NULL,0,'2026-11-28 09:35:00.279000','conclude_now',NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('limit','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.299000','verdict','SUPPORTED','2026-11-28 09:35:00.322000',24,1,NULL,NULL,0,'2026-11-28 09:35:00.301000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('no-verdict','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.328000','failed',NULL,'2026-11-28 09:35:00.340000',15,1,NULL,NULL,0,'2026-11-28 09:35:00.331000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('left-out','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.349000','verdict','SUPPORTED','2026-11-28 09:35:00.361000',35,1,NULL,NULL,0,'2026-11-28 09:35:00.352000',NULL,'enough',NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('stopped','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.371000','interrupted',NULL,'2026-11-28 09:35:00.391000',19,2,NULL,NULL,0,'2026-11-28 09:35:00.373000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('waiting','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.397000','running',NULL,NULL,2,0,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('cut-off-decided','me','The author of Hamlet was born in England.','{"strategy": "evidence-pursuit", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.405000','running',NULL,NULL,10,2,NULL,NULL,1,'2026-11-28 09:35:00.407000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
INSERT INTO "runs" VALUES('cut-off-for-good','me','The author of Hamlet was born in England.','{"strategy": "question-guided", "answerer": "retriever-reader", "labels": "three", "max_hops": 5, "modules": [], "preset": "local", "model": null, "corpora": ["vital"], "fresh": false, "search": null, "undated": true, "fact_checks": true, "model_seed": null, "temperature": null, "max_tokens": null}','2026-11-28 09:35:00.427000','interrupted',NULL,'2026-11-28 09:35:00.457000',29,7,NULL,NULL,3,'2026-11-28 09:35:00.429000',NULL,NULL,NULL,NULL,NULL,NULL,0,'the author of hamlet was born in england.');
CREATE TABLE spending (
	day DATE NOT NULL, 
	calls BIGINT NOT NULL, 
	prompt_tokens BIGINT NOT NULL, 
	completion_tokens BIGINT NOT NULL, 
	cost DOUBLE NOT NULL, 
	PRIMARY KEY (day)
);
INSERT INTO "spending" VALUES('2026-11-28',40,400,80,0.0);
CREATE INDEX ix_runs_published_at ON runs (published_at);
CREATE INDEX ix_runs_ended_at ON runs (ended_at);
CREATE INDEX ix_runs_parent ON runs (parent);
CREATE INDEX ix_runs_batch ON runs (batch);
CREATE INDEX ix_runs_deleted_at ON runs (deleted_at);
CREATE INDEX ix_runs_state ON runs (state);
CREATE INDEX ix_runs_owner_created_at ON runs (owner, created_at);
CREATE INDEX ix_model_calls_scope_used_at_size_bytes ON model_calls (scope, used_at, size_bytes);
CREATE INDEX ix_batches_owner_created_at ON batches (owner, created_at);
CREATE INDEX ix_batches_state ON batches (state);
CREATE INDEX ix_batches_deleted_at ON batches (deleted_at);
CREATE INDEX ix_run_calls_key ON run_calls ("key");
COMMIT;