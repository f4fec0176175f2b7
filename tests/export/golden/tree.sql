CASE
  WHEN "age" > 0.30000000000000004e0 OR "age" IS NULL THEN
    CASE
      WHEN TRIM("drug's kind") IN ('aspirin', 'l''eau') THEN 10
      WHEN TRIM("site") IN ('Ulm', 'Wien') THEN
        CASE
          WHEN "dose" IS NULL THEN 9
          ELSE 8
        END
      ELSE 6
    END
  WHEN """smoker""" = TRUE OR """smoker""" IS NULL THEN 3
  ELSE 2
END
