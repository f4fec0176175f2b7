/* median survival (baseline curve) */
CASE
  WHEN "age" > 0.30000000000000004e0 OR "age" IS NULL THEN
    CASE
      WHEN TRIM("drug's kind") IN ('aspirin', 'l''eau') THEN 2.5e0
      WHEN TRIM("site") IN ('Ulm', 'Wien') THEN
        CASE
          WHEN "dose" IS NULL THEN 4 /* few events */
          ELSE NULL /* few events */
        END
      ELSE 4 /* few events */
    END
  WHEN """smoker""" = TRUE OR """smoker""" IS NULL THEN 4 /* few events */
  ELSE 4 /* few events */
END
